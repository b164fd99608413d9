import {
  type EventKind,
  type EventQuery,
  eventKinds,
  type FoundEvents,
  type HistoryEvent,
} from '../../history/event.ts';
import type { History } from '../../history/history.ts';
import { inTime, momentOf } from '../../lib/time.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { EventFilter } from './view.ts';

/** The newest first; undefined where the history does not answer. */
export type ShownEvents = FoundEvents | undefined;

/** A page waits no longer for a disk. */
const patienceMs = 1_000;

interface FindOptions {
  /** The appliance of the filter: of a farm, what it depends on is found too. */
  readonly status?: ApplianceStatus | undefined;
  /** A kind that is not wanted. */
  readonly without?: EventKind;
}

export type FindEvents = (filter: EventFilter, limit: number, options?: FindOptions) => Promise<ShownEvents>;

export function createFindEvents(history: Pick<History, 'find'>, now: () => number): FindEvents {
  let late = 0;

  /** Gives up after a moment; nobody waits while an earlier question is late. */
  async function findSoon(query: EventQuery): Promise<ShownEvents> {
    if (late > 0) return undefined;
    const asked = history.find(query);
    try {
      return await inTime(asked, patienceMs, () => new Error('late'));
    } catch {
      late += 1;
      const over = (): number => (late -= 1);
      void asked.then(over, over);
      return undefined;
    }
  }

  return async ({ appliance, farm, event, since }, limit, { status, without } = {}) => {
    const sinceMs = since === undefined ? undefined : momentOf(since, now());
    const kinds = eventKinds.filter((kind) => kind === (event ?? kind) && kind !== without);
    const certificates =
      appliance === undefined ? undefined : (status?.farms?.find(({ name }) => name === farm)?.certificates ?? []);
    return await findSoon({ appliance, farm, certificates, sinceMs, kinds, limit });
  };
}

/** Finds the newest events; changes of states only beside all that may have caused them. */
export async function findCauses(
  find: FindEvents,
  filter: EventFilter,
  limit: number,
  status?: ApplianceStatus,
): Promise<ShownEvents> {
  const causes = await find(filter, limit, { status, without: 'state' });
  const states = await find({ ...filter, event: 'state' }, limit, { status });
  if (!causes || !states) return undefined;
  return { events: newestFirst([...causes.events, ...states.events].slice(0, limit)) };
}

function newestFirst(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return events.toSorted((one, other) => other.atMs - one.atMs || other.id - one.id);
}
