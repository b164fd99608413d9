import type { Fault } from './faults.ts';

/** One request as the simulated appliance received it. */
export interface SimulatedRequest {
  readonly method: string;
  /** Below the base path, percent-encoded. */
  readonly path: string;
  /** The route of the table, or verb and path where none matched. */
  readonly route: string;
  /** Milliseconds by the appliance's clock. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Absent until an answer is sent. */
  readonly status?: number;
  /** True if the client left before the end of the answer. */
  readonly leftEarly?: boolean;
  /** The fault of the answer. */
  readonly fault?: Fault['kind'];
  /** How many requests were in flight when this one came, itself included. */
  readonly concurrent: number;
}

type Entry = { -readonly [Key in keyof SimulatedRequest]: SimulatedRequest[Key] };

export interface RequestLog {
  readonly requests: readonly SimulatedRequest[];
  readonly inFlight: number;
  begin(request: Pick<SimulatedRequest, 'method' | 'path' | 'route' | 'startedAt' | 'fault'>): Entry;
  end(entry: Entry, end: Pick<SimulatedRequest, 'endedAt' | 'status' | 'leftEarly'>): void;
}

const kept = 20_000;

/**
 * Keeps the newest requests. Drops old ones in blocks, because shifting a long list for every
 * request is slow.
 */
export function createRequestLog(): RequestLog {
  const requests: Entry[] = [];
  let inFlight = 0;
  return {
    requests,
    get inFlight() {
      return inFlight;
    },
    begin(request) {
      inFlight += 1;
      const entry: Entry = { ...request, concurrent: inFlight };
      requests.push(entry);
      if (requests.length > kept) requests.splice(0, 1_000);
      return entry;
    },
    end(entry, end) {
      inFlight -= 1;
      Object.assign(entry, end);
    },
  };
}
