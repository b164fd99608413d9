import { type EventKind, eventKinds, type FoundEvents, type HistoryEvent } from '../../history/event.ts';
import type { History } from '../../history/history.ts';
import { createGate, momentOf } from '../../lib/time.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { EventFilter } from './view.ts';

/** A page does not wait longer for the history. */
export const maxHistoryWaitMs = 1_000;

interface FindOptions {
  /** With the appliance of the filter, what a farm depends on is also found. */
  readonly status?: ApplianceStatus | undefined;
  readonly without?: EventKind;
}

/** Resolves to undefined if the history does not answer in time. */
export type FindEvents = (
  filter: EventFilter,
  limit: number,
  options?: FindOptions,
) => Promise<FoundEvents | undefined>;

export function createFindEvents(history: Pick<History, 'find'>, now: () => number): FindEvents {
  const gate = createGate(maxHistoryWaitMs, () => new Error('late'));
  return async ({ appliance, farm, event, since }, limit, { status, without } = {}) => {
    const sinceMs = since === undefined ? undefined : momentOf(since, now());
    const kinds = eventKinds.filter((kind) => kind === (event ?? kind) && kind !== without);
    const certificates =
      appliance === undefined ? undefined : (status?.farms?.find(({ name }) => name === farm)?.certificates ?? []);
    const query = { appliance, farm, certificates, sinceMs, kinds, limit };
    return await gate(() => history.find(query)).catch(() => undefined);
  };
}

/** Finds the newest events, and among them changes of state only as far as possible causes leave room. */
export async function findCauses(
  find: FindEvents,
  filter: EventFilter,
  limit: number,
  status?: ApplianceStatus,
): Promise<FoundEvents | undefined> {
  const causes = await find(filter, limit, { status, without: 'state' });
  const states = await find({ ...filter, event: 'state' }, limit, { status });
  if (!causes || !states) return undefined;
  return { events: newestFirst([...causes.events, ...states.events].slice(0, limit)), lost: states.lost };
}

function newestFirst(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return events.toSorted((one, other) => other.atMs - one.atMs || other.id - one.id);
}
