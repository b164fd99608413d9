import type { TSchema } from 'typebox';

/** The verbs of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `METHOD /path`, with `{name}` for one path segment and `{name*}` for the rest of the path. */
export type Route = `${Method} /${string}`;

/**
 * The risk of a call, for the gateway's policy and for the rule that polling only reads. `read`
 * shows nothing confidential; `secret` reads key material, passwords, users, logs or backups.
 * `reversible` creates, or changes something that another call restores; `disruptive` can cut
 * traffic or management access, or is hard to restore; `destructive` deletes.
 */
export type Risk = 'read' | 'secret' | 'reversible' | 'disruptive' | 'destructive';

/** The kind of content that a request carries (docs/api.md §1.3). */
export type BodyKind = 'none' | 'json' | 'text' | 'pem' | 'gzip';

/** The API release that brought an endpoint; null when not known. */
export type SinceRelease = '4.0' | '4.0.1' | '4.0.2' | null;

/**
 * The side effect of a read (docs/api.md §1.7). The types keep such a read out of polling, guards
 * and plans; in the gateway it needs the right of `risk` as well.
 */
export interface ReadSideEffect {
  readonly on: 'l4xnat' | 'every call';
  readonly risk: Risk;
  /** A clause about what it does, such as `starts the daemon`. */
  readonly does: string;
  /** A clause about when. */
  readonly when: string;
  /** How it is known. */
  readonly source: 'measured' | 'same code as one that was measured' | 'not checked, assumed';
}

/** The effect of a write on farms that it does not name, by product. */
export interface WriteSideEffect extends Pick<ReadSideEffect, 'does' | 'when' | 'source'> {
  /** The proxy of HTTP farms with which it has this effect. */
  readonly with: 'zproxy';
}

interface RowOptions {
  /** Absent for a read without one. */
  readonly readSideEffect?: ReadSideEffect;
  /** Absent for a write that affects only what it names. */
  readonly writeSideEffect?: WriteSideEffect;
  /** Defaults to `json` for POST and PUT, and to `none` for GET and DELETE. */
  readonly body?: BodyKind;
  /** The shape of a 200 reply; absent means "not documented", and the reply cannot be decoded. */
  readonly reply?: TSchema;
  /**
   * The limit of values in a reply that can be longer than most; the default is in `maxValuesOf` of
   * reply-bounds.ts.
   */
  readonly maxValues?: number;
  /**
   * Milliseconds for which the appliance may wait before it answers, because it asks proxies: it
   * waits 20 s for each one that hangs (docs/api.md §1.6).
   */
  readonly maxProxyWaitMs?: number;
  /** Milliseconds of each call in which the appliance sleeps, and does no work. */
  readonly sleepsMs?: number;
}

/**
 * One verb and path of the appliance's API. Everything that must know the API derives it from these
 * rows.
 */
export interface EndpointRow extends RowOptions {
  readonly route: Route;
  /** The part of the API; collectors and the gateway group endpoints by it. */
  readonly area: string;
  readonly since: SinceRelease;
  readonly risk: Risk;
  readonly body: BodyKind;
  readonly summary: string;
}

/** Returns one line of the table. Its literal types give a call its parameters and its reply. */
export function row<R extends Route, K extends Risk, Options extends RowOptions>(
  route: R,
  risk: K,
  since: SinceRelease,
  summary: string,
  options?: Options,
) {
  return { route, risk, since, body: usualBodyOf(route), summary, ...(options as Options) };
}

function usualBodyOf(route: Route): BodyKind {
  return /^(?:POST|PUT) /.test(route) ? 'json' : 'none';
}

/** Returns the rows of an area, each with the area's name. */
export function area<A extends string, Rows extends Readonly<Record<string, Omit<EndpointRow, 'area'>>>>(
  name: A,
  rows: Rows,
): { readonly [Key in keyof Rows]: Rows[Key] & { readonly area: A } } {
  const named = Object.entries(rows).map(([key, row]) => [key, { ...row, area: name }]);
  return Object.fromEntries(named);
}
