import { failure, json, type Reply } from './call.ts';
import type { World } from './world.ts';

/** A fault of an answer, as seen on the wire. */
export type Fault =
  /** Closes the port and all connections, whatever the route. `heal` opens the same port again. */
  | { readonly kind: 'refuse' }
  /** Accepts the call and never answers. */
  | { readonly kind: 'hang' }
  /** Does what it is asked, and answers once the promise is settled. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  | { readonly kind: 'slow_body'; readonly bytesPerSecond: number }
  /** Sends the headers and half of the body, then destroys the connection. */
  | { readonly kind: 'cut' }
  /** A complete HTTP answer whose JSON stops in the middle. */
  | { readonly kind: 'truncated' }
  /** Sends the web server's page instead of JSON, with 200 if no status is given. */
  | { readonly kind: 'html'; readonly status?: number }
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'huge_body'; readonly bytes: number }
  /**
   * Presents an expired certificate in new handshakes, whatever the route, and closes all
   * connections.
   */
  | { readonly kind: 'expired_tls' }
  /** Shifts the Date headers and the dates in texts. */
  | { readonly kind: 'clock_skew'; readonly seconds: number };

/** Stores the faults of routes, and for how many more calls each applies. */
export class FaultTable {
  readonly #active = new Map<string, { readonly fault: Fault; times: number }>();

  set(route: string, fault: Fault, times: number): void {
    // A closed port and a certificate see no calls to count.
    const countless = fault.kind === 'refuse' || fault.kind === 'expired_tls';
    this.#active.set(route, { fault, times: countless ? Number.POSITIVE_INFINITY : times });
  }

  clear(route?: string): void {
    if (route === undefined) this.#active.clear();
    else this.#active.delete(route);
  }

  /**
   * Returns the fault of a call and counts the call. A fault of the route has priority over one of
   * `*`.
   */
  take(route: string): Fault | undefined {
    const key = this.#active.has(route) ? route : '*';
    const entry = this.#active.get(key);
    if (!entry) return undefined;
    entry.times -= 1;
    if (entry.times <= 0) this.#active.delete(key);
    return entry.fault;
  }

  /** True if any route has a fault of this kind. Faults of the listener apply to all calls. */
  has(kind: Fault['kind']): boolean {
    return [...this.#active.values()].some(({ fault }) => fault.kind === kind);
  }
}

/** Returns the reply that a fault sends instead of the real one. */
export function substitute(fault: Fault | undefined, world: World): Reply | undefined {
  if (fault?.kind === 'html') return { kind: 'page', status: fault.status ?? 200 };
  if (fault?.kind === 'status') return json(fault.status, fault.body ?? usualBody(fault.status, world));
  return undefined;
}

function usualBody(status: number, { activation, hostname }: World): unknown {
  if (status === 401) return { message: 'Authorization required' };
  if (status === 402) {
    const message = 'No usable activation certificate is installed.';
    return { message, certificate_key: activation.certificateKey, hostname };
  }
  return failure(status, `Refused with ${status} on request of a test.`, { description: 'A call' }).value;
}
