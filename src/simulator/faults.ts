import { failure, json, type Reply } from './reply.ts';
import type { World } from './world.ts';

/** What can go wrong with an answer, as seen on the wire. */
export type Fault =
  /** The port is closed and what was connected is cut, whatever the route; healing listens on the same port again. */
  | { readonly kind: 'refuse' }
  /** The call is accepted and never answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'slow_body'; readonly bytesPerSecond: number }
  /** The headers and half of the body, then the connection is destroyed. */
  | { readonly kind: 'cut' }
  /** A complete HTTP answer whose JSON stops in the middle. */
  | { readonly kind: 'truncated' }
  /** The web server's page in place of JSON; 200 unless told otherwise. */
  | { readonly kind: 'html'; readonly status?: number }
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  /** The same keys with other JSON types behind them. */
  | { readonly kind: 'wrong_types' }
  | { readonly kind: 'huge_body'; readonly bytes: number }
  /** New handshakes see an expired certificate, whatever the route; what was connected is cut. */
  | { readonly kind: 'expired_tls' }
  /** The Date headers and the dates in texts are off. */
  | { readonly kind: 'clock_skew'; readonly seconds: number }
  | { readonly kind: 'redirect'; readonly location: string };

interface ActiveFault {
  readonly fault: Fault;
  times: number;
}

export interface FaultTable {
  set(route: string, fault: Fault, times: number): void;
  clear(route?: string): void;
  /** The fault of a call, which uses up one of its times; the route's own comes before the one of `*`. */
  take(route: string): Fault | undefined;
  /** Whether any route has a fault of this kind; those of the listener hold for all calls. */
  has(kind: Fault['kind']): boolean;
}

/** Keeps which routes are broken, and for how many more calls. */
export function createFaultTable(): FaultTable {
  const active = new Map<string, ActiveFault>();
  return {
    set(route, fault, times) {
      // A closed port and a certificate meet no calls that could use them up.
      const countless = fault.kind === 'refuse' || fault.kind === 'expired_tls';
      active.set(route, { fault, times: countless ? Number.POSITIVE_INFINITY : times });
    },
    clear(route) {
      if (route === undefined) active.clear();
      else active.delete(route);
    },
    take(route) {
      const key = active.has(route) ? route : '*';
      const entry = active.get(key);
      if (!entry) return undefined;
      entry.times -= 1;
      if (entry.times <= 0) active.delete(key);
      return entry.fault;
    },
    has(kind) {
      return [...active.values()].some(({ fault }) => fault.kind === kind);
    },
  };
}

/** Keeps every key of a reply and turns the types around: numbers into objects, lists into texts, texts into lists. */
export function withWrongTypes(value: unknown): unknown {
  if (Array.isArray(value)) return 'not a list';
  if (typeof value === 'number') return { amount: value };
  if (typeof value === 'string') return [value];
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withWrongTypes(inner)]));
  }
  return { nothing: true };
}

/** The reply that a fault puts in the place of the real one. */
export function substitute(fault: Fault | undefined, world: World): Reply | undefined {
  if (fault?.kind === 'html') return { kind: 'page', status: fault.status ?? 200 };
  if (fault?.kind === 'redirect') return { kind: 'page', status: 302, headers: [['Location', fault.location]] };
  if (fault?.kind === 'status') return json(fault.status, fault.body ?? usualBody(fault.status, world));
  return undefined;
}

function usualBody(status: number, { activation, hostname }: World): unknown {
  if (status === 401) return { message: 'Authorization required' };
  if (status === 402)
    return {
      message: 'No usable activation certificate is installed.',
      certificate_key: activation.certificateKey,
      hostname,
    };
  return failure(status, 'A call', `Refused with ${status} on request of a test.`).value;
}
