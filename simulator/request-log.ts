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
  /** The fault of the answer. */
  readonly fault?: Fault['kind'];
  /** How many requests were in flight when this one came, itself included. */
  readonly concurrent: number;
}

type Entry = { -readonly [Key in keyof SimulatedRequest]: SimulatedRequest[Key] };

const kept = 20_000;

/** Keeps the newest requests. */
export class RequestLog {
  readonly #requests: Entry[] = [];
  #inFlight = 0;

  get requests(): readonly SimulatedRequest[] {
    return this.#requests;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  begin(request: Pick<SimulatedRequest, 'method' | 'path' | 'route' | 'startedAt' | 'fault'>): Entry {
    this.#inFlight += 1;
    const entry: Entry = { ...request, concurrent: this.#inFlight };
    this.#requests.push(entry);
    // In blocks, because shifting a long list for every request is slow.
    if (this.#requests.length > kept) this.#requests.splice(0, 1_000);
    return entry;
  }

  end(entry: Entry, end: Pick<SimulatedRequest, 'endedAt' | 'status'>): void {
    this.#inFlight -= 1;
    Object.assign(entry, end);
  }
}
