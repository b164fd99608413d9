import type { LoggedRequest } from './logged-line.ts';

/** Equal lines. */
export interface Waiting {
  readonly request: LoggedRequest;
  readonly times: number;
  readonly sinceMs: number;
}

/**
 * The most requests that wait for the names of an appliance, about 3 MB. All may be counted at once,
 * and each costs, also where one line stands for many.
 */
export const maxWaiting = 10_000;
/** Services of the proxy have no longer names. */
const longestName = 127;
/** How long a request waits: a list of farms comes within that, or none comes. */
export const maxWaitMs = 120_000;
const maxUnknownNames = 1_000;

/** Requests with a name that polling does not know yet: of a new farm, or before the first list. */
export class WaitingRequests {
  #waiting: readonly Waiting[] = [];
  #added: Waiting[] = [];
  #requests = 0;
  /** Names for which others waited: those of farms that are not polled, or were invented. */
  readonly #unknownNames = new Set<string>();

  get isEmpty(): boolean {
    return this.#waiting.length + this.#added.length === 0;
  }

  get isFull(): boolean {
    return this.#requests >= maxWaiting;
  }

  /** Lets a request wait; returns false if that is in vain, or there is no place. */
  add(request: LoggedRequest, times: number, nowMs: number): boolean {
    const names = namesOf(request);
    if (this.isFull || this.#unknownNames.has(names.join('\n')) || names.some(({ length }) => length > longestName))
      return false;
    this.#added.push({ request: withOwnNames(request), times, sinceMs: nowMs });
    this.#requests += times;
    return true;
  }

  /**
   * Takes out those that `isKnown`, and `late` ones, which have waited long enough. After the first
   * list, nothing waits any more for the names of a late one.
   */
  take(isKnown: (...names: readonly string[]) => boolean, hasList: boolean, nowMs: number) {
    const all = [...this.#waiting, ...this.#added];
    const {
      known = [],
      late = [],
      waiting = [],
    } = Object.groupBy(all, ({ request, sinceMs }) => {
      if (isKnown(...namesOf(request))) return 'known';
      return nowMs - sinceMs >= maxWaitMs ? 'late' : 'waiting';
    });
    [this.#waiting, this.#added] = [waiting, []];
    this.#requests = waiting.reduce((sum, { times }) => sum + times, 0);
    if (this.#unknownNames.size >= maxUnknownNames) this.#unknownNames.clear();
    if (hasList) for (const { request } of late) this.#unknownNames.add(namesOf(request).join('\n'));
    return { known, late };
  }
}

/** Returns its farm, and the service and the backend of an answer. */
export function namesOf(request: LoggedRequest): readonly string[] {
  return request.kind === 'answer' ? [request.farm, request.service, request.backend] : [request.farm];
}

/** Copies the names, which as parts of their line would keep all of its text. */
function withOwnNames(request: LoggedRequest): LoggedRequest {
  const copy = (name: string) => Buffer.from(name, 'latin1').toString('latin1');
  if (request.kind === 'denial') return { ...request, farm: copy(request.farm) };
  const { farm, service, backend, code } = request;
  return { ...request, farm: copy(farm), service: copy(service), backend: copy(backend), code: copy(code) };
}
