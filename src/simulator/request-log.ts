/** One request as the simulated appliance saw it. */
export interface SimulatedRequest {
  readonly method: string;
  /** Below the base path, percent-encoded. */
  readonly path: string;
  /** The route of the table, or verb and path where none matched. */
  readonly route: string;
  /** Milliseconds by the appliance's clock. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Absent as long as nothing was answered. */
  readonly status?: number;
  /** How many requests were in flight when this one came, itself included. */
  readonly concurrent: number;
}

type Entry = { -readonly [Key in keyof SimulatedRequest]: SimulatedRequest[Key] };

export interface RequestLog {
  readonly requests: readonly SimulatedRequest[];
  readonly inFlight: number;
  begin(request: Pick<SimulatedRequest, 'method' | 'path' | 'route' | 'startedAt'>): Entry;
  end(entry: Entry, endedAt: number, status: number | undefined): void;
}

const kept = 20_000;

/** Keeps the newest requests; dropped in blocks, since shifting a long list for every request would be slow. */
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
    end(entry, endedAt, status) {
      inFlight -= 1;
      entry.endedAt = endedAt;
      if (status !== undefined) entry.status = status;
    },
  };
}
