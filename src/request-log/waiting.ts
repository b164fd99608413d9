import { type LoggedRequest, targetNames } from './logged-line.ts';

/** Equal lines about a request. */
export interface WaitingRequest {
  readonly request: LoggedRequest;
  readonly times: number;
  readonly sinceSteadyMs: number;
}

/**
 * The most requests that wait for the names of an appliance, about 3 MB. A line that stands for many
 * requests counts as many, because all of them may be counted at once.
 */
export const maxWaiting = 10_000;
/** The proxy has no longer names of services. */
const longestName = 127;
/** How long a request waits; a list of farms usually comes earlier. */
export const maxWaitMs = 120_000;
const maxUnknownNames = 1_000;

/** Holds requests whose names polling does not know yet: of a new farm, or before the first list. */
export class WaitingRequests {
  #waiting: readonly WaitingRequest[] = [];
  #added: WaitingRequest[] = [];
  #requests = 0;
  /** Names for which earlier requests waited in vain. */
  readonly #unknownNames = new Set<string>();

  get isEmpty(): boolean {
    return this.#waiting.length + this.#added.length === 0;
  }

  get isFull(): boolean {
    return this.#requests >= maxWaiting;
  }

  /** Adds a request; returns false if it would wait in vain, or there is no room. */
  add(request: LoggedRequest, times: number, nowSteadyMs: number): boolean {
    const names = targetNames(request);
    if (this.isFull || this.#unknownNames.has(names.join('\n')) || names.some(({ length }) => length > longestName))
      return false;
    this.#added.push({ request: copyNames(request), times, sinceSteadyMs: nowSteadyMs });
    this.#requests += times;
    return true;
  }

  /**
   * Removes and returns the requests whose names are `known`, and the `late` ones, which have waited
   * long enough. Once there is a list, no later request waits for the names of a late one.
   */
  take(isKnown: (...names: readonly string[]) => boolean, hasList: boolean, nowSteadyMs: number) {
    const all = [...this.#waiting, ...this.#added];
    const {
      known = [],
      late = [],
      waiting = [],
    } = Object.groupBy(all, ({ request, sinceSteadyMs }) => {
      if (isKnown(...targetNames(request))) return 'known';
      return nowSteadyMs - sinceSteadyMs >= maxWaitMs ? 'late' : 'waiting';
    });
    [this.#waiting, this.#added] = [waiting, []];
    this.#requests = waiting.reduce((sum, { times }) => sum + times, 0);
    if (this.#unknownNames.size >= maxUnknownNames) this.#unknownNames.clear();
    if (hasList) for (const { request } of late) this.#unknownNames.add(targetNames(request).join('\n'));
    return { known, late };
  }
}

/** Copies the names: as slices, they would keep the whole line in memory. */
function copyNames(request: LoggedRequest): LoggedRequest {
  const copy = (name: string) => Buffer.from(name, 'latin1').toString('latin1');
  if (request.kind === 'denial') return { ...request, farm: copy(request.farm) };
  const { farm, service, backend, code } = request;
  return { ...request, farm: copy(farm), service: copy(service), backend: copy(backend), code: copy(code) };
}
