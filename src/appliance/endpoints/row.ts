import type { TSchema } from 'typebox';

/** The verbs of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `METHOD /path`, with `{name}` for one path segment and `{name*}` for the rest of the path. */
export type Route = `${Method} /${string}`;

/**
 * What a call can do, for the admin gateway's policy and for the rule that polling only ever reads:
 * `read` shows nothing confidential; `secret` reads key material, passwords, users, logs or backups; `reversible`
 * creates or changes something that another call puts back; `disruptive` can cut traffic or management access or
 * changes what cannot simply be put back; `destructive` deletes.
 */
export type Risk = 'read' | 'secret' | 'reversible' | 'disruptive' | 'destructive';

/** What a request carries (docs/api.md §1.3). */
export type BodyKind = 'none' | 'json' | 'text' | 'pem' | 'gzip';

/** One verb and path of the appliance's API. Everything that must know the API derives it from these rows. */
export interface EndpointRow {
  readonly route: Route;
  /** The area of endpoints.json, one file each. */
  readonly area: string;
  /** The API release that brought it; null when not known. */
  readonly since: '4.0' | '4.0.1' | '4.0.2' | null;
  readonly risk: Risk;
  readonly body: BodyKind;
  readonly summary: string;
  /** The shape of a 200 reply; absent means "not documented", and the reply cannot be decoded. */
  readonly reply?: TSchema;
  /** Values that such a reply may hold, where it can be longer than most (`maxValuesOf` of reply-bounds.ts). */
  readonly maxValues?: number;
}
