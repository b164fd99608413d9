/** What a handler answers; the server turns it into bytes, headers and, on request, gzip. */
export type Reply = JsonReply | TextReply | FileReply | PageReply | EmptyReply;

interface ReplyBase {
  readonly status: number;
  readonly headers?: readonly (readonly [string, string])[];
}

export interface JsonReply extends ReplyBase {
  readonly kind: 'json';
  readonly value: unknown;
}

/** `text/plain`, as `…/info` answers. */
interface TextReply extends ReplyBase {
  readonly kind: 'text';
  readonly text: string;
}

/** A download. */
interface FileReply extends ReplyBase {
  readonly kind: 'file';
  readonly filename: string;
  readonly content: Buffer;
}

/** The web server's own HTML, for what never reached the API or made it crash. */
interface PageReply extends ReplyBase {
  readonly kind: 'page';
}

interface EmptyReply extends ReplyBase {
  readonly kind: 'empty';
}

/** Every error of the API points to its manual. */
const documentation = 'https://appliance.example/manual/api/v4.0/';

/** A reply with the usual envelope of reads. */
export function read(description: string, params: unknown, more: Readonly<Record<string, unknown>> = {}): JsonReply {
  return { kind: 'json', status: 200, value: { description, params, ...more } };
}

/** A JSON reply with an envelope of its own. */
export function json(status: number, value: unknown): JsonReply {
  return { kind: 'json', status, value };
}

/** The common success body of actions, or one with `params` in place of `success` (docs/api.md §1.5). */
export function done(
  description: string,
  message: string,
  more: Readonly<Record<string, unknown>> = { success: 'true' },
): JsonReply {
  return json(200, { description, message, ...more });
}

/** The answer of the few calls that say 201. */
export function created(
  description: string,
  message: string,
  params: unknown,
  more: Readonly<Record<string, unknown>> = {},
): JsonReply {
  return json(201, { description, message, params, ...more });
}

/** The error body of the API. */
export function failure(status: number, description: string, message: string): JsonReply {
  return json(status, { description, documentation, error: 'true', message });
}

/**
 * The 404 for a route or a verb that does not exist; `path` as the appliance understood it. Clients tell it by these words
 * from the 404 of an object (docs/api.md §3.19).
 */
export function notFound(path: string): JsonReply {
  return failure(404, 'No such call', `Request not found: ${path}`);
}

/** Ends a call early with a reply: a check inside a handler refused it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

/** Refuses a call with the error body of the API. */
export function refuse(status: number, description: string, message: string): never {
  throw new Refusal(failure(status, description, message));
}

/** Lets the handler die as some of the appliance's do: the web server answers in its place. */
export function crash(): never {
  throw new Refusal({ kind: 'page', status: 500 });
}
