import type { User, World } from './world.ts';

/** One request as a handler gets it: allowed, matched to a route, with its body read. */
export interface Call {
  readonly world: World;
  readonly user: User;
  readonly nowMs: number;
  /** The template and its decoded values. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  /** An object for JSON content, undefined for everything else. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** The body as sent. */
  readonly content: Buffer;
}

export type Handler = (call: Call) => Reply;

/** Handlers of one area, keyed by route. */
export type Handlers = Readonly<Record<string, Handler>>;

/** Returns a path parameter of the route. */
export function param(call: Call, name: string): string {
  return call.params[name] ?? '';
}

/** Returns the object that a path parameter names, or refuses. */
export function named<Found>(call: Call, among: ReadonlyMap<string, Found>, parameter: string): Found {
  const name = param(call, parameter);
  return among.get(name) ?? refuse(404, `There is no ${name}.`);
}

/** Returns a flag as the API prints it. */
export function flag(value: boolean): 'true' | 'false' {
  return value ? 'true' : 'false';
}

/** The result of a handler; response.ts turns it into bytes, headers and, on request, gzip. */
export type Reply = { readonly status: number } & (
  | { readonly kind: 'json'; readonly value: unknown }
  /** `text/plain`, as `…/info` answers. */
  | { readonly kind: 'text'; readonly text: string }
  /** A download. */
  | { readonly kind: 'file'; readonly filename: string; readonly content: Buffer }
  /**
   * The web server's own HTML, for a request that does not reach the API, makes it crash, or waits
   * in it for so long.
   */
  | { readonly kind: 'page'; readonly afterMs?: number }
);

type JsonReply = Extract<Reply, { readonly kind: 'json' }>;

/** Every error of the API has a link to its manual. */
const documentation = 'https://appliance.example/manual/api/v4.0/';

/**
 * Returns a JSON reply with an envelope of its own. The API adds a `description` of the route to
 * every object without one (api.ts).
 */
export function json(status: number, value: unknown): JsonReply {
  return { kind: 'json', status, value };
}

/** Returns a reply with the usual envelope of reads. */
export function read(params: unknown, more: Readonly<Record<string, unknown>> = {}): JsonReply {
  return json(200, { params, ...more });
}

/** Returns a reply of plain text. */
export function plainText(text: string): Reply {
  return { kind: 'text', status: 200, text };
}

/** Returns a download. */
export function download(filename: string, content: string): Reply {
  return { kind: 'file', status: 200, filename, content: Buffer.from(content) };
}

/**
 * Returns the common success body of actions, or one with `params` instead of `success`
 * (docs/api.md §1.5).
 */
export function done(message: string, more: Readonly<Record<string, unknown>> = { success: 'true' }): JsonReply {
  return json(200, { message, ...more });
}

/** Returns the answer of the few calls that reply with 201. */
export function created(message: string, params: unknown, more: Readonly<Record<string, unknown>> = {}): JsonReply {
  return json(201, { message, params, ...more });
}

/** Returns the error body of the API. */
export function failure(status: number, message: string, more: { readonly description?: string } = {}): JsonReply {
  return json(status, { documentation, error: 'true', message, ...more });
}

/**
 * Returns the 404 of a route or verb that does not exist; `path` is as the appliance understood it.
 * These words distinguish it from the 404 of an object (docs/api.md §1.5).
 */
export function notFound(path: string): JsonReply {
  return failure(404, `Request not found: ${path}`, { description: 'No such call' });
}

/** Ends a call with a reply, thrown by a check inside a handler. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

/** Refuses a call with the error body of the API. */
export function refuse(status: number, message: string): never {
  throw new Refusal(failure(status, message));
}

/** Ends a call as a crash of the appliance's handler does: the web server answers with 500. */
export function crash(): never {
  throw new Refusal({ kind: 'page', status: 500 });
}
