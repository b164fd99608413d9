import { type EventQuery, eventKinds, type HistoryEvent, maxFound } from '../../history/event.ts';
import type { History } from '../../history/history.ts';
import { inTime, momentOf } from '../../lib/time.ts';
import type { ApplianceStatus } from '../../state/status.ts';
import type { EventFilter } from './view.ts';

/** The newest first; undefined where the history does not answer. */
export type FoundEvents = readonly HistoryEvent[] | undefined;

/** A page waits no longer for a disk. */
const patienceMs = 1_000;

/** Finds events; with those of a farm, those of its appliance that it depends on. */
export type FindEvents = (filter: EventFilter, limit: number, status?: ApplianceStatus) => Promise<FoundEvents>;

export function createFindEvents(history: Pick<History, 'find'>, now: () => number): FindEvents {
  let late = 0;

  /** Gives up after a moment; nobody waits while an earlier question is late. */
  async function findSoon(query: EventQuery): Promise<FoundEvents> {
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

  return async ({ appliance, farm, event, since }, limit, status) => {
    const sinceMs = since === undefined ? undefined : momentOf(since, now());
    const kinds = event === undefined ? undefined : eventKinds.filter((kind) => kind === event);
    const query = { appliance, sinceMs, kinds, limit };
    const own = await findSoon({ ...query, farm });
    if (farm === undefined || appliance === undefined) return own;
    const others = await findSoon({ ...query, limit: maxFound });
    if (!own || !others) return undefined;
    const certificates = status?.farms?.find(({ name }) => name === farm)?.certificates ?? [];
    const all = [...own, ...others.filter((each) => isShared(each, certificates))];
    return newestFirst([...new Map(all.map((each) => [each.id, each])).values()]).slice(0, limit);
  };
}

function isShared({ kind, differences }: HistoryEvent, certificates: readonly string[]): boolean {
  return (
    kind === 'restart' ||
    differences.some(({ object, name }) =>
      object === 'certificate' ? certificates.includes(name) : ['version', 'appliance'].includes(object),
    )
  );
}

/** Returns so many at most; changes of states only beside all that may have caused them. */
export function causesFirst(events: readonly HistoryEvent[], limit: number): readonly HistoryEvent[] {
  const isState = ({ kind }: HistoryEvent): number => Number(kind === 'state');
  return newestFirst(events.toSorted((one, other) => isState(one) - isState(other)).slice(0, limit));
}

function newestFirst(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return events.toSorted((one, other) => other.atMs - one.atMs || other.id - one.id);
}
