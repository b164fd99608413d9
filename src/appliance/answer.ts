import type { TSchema } from 'typebox';
import type { Dispatcher } from 'undici';
import { isRecord } from '../lib/check.ts';
import type { Decode } from './decode.ts';
import { type FailureReason, reasonOfStatus } from './errors.ts';
import { type Excess, excessOf } from './reply-bounds.ts';

/** A complete answer to a GET. */
export interface Answer {
  readonly status: number;
  /** Lower case, without parameters; empty when the answer names none. */
  readonly mediaType: string;
  /** Without keys. */
  readonly text: string;
}

/** What a row of the endpoint table promises of its reply. */
export interface Expected {
  readonly schema: TSchema;
  /** Values that the reply may hold. */
  readonly maxValues: number;
}

/** What an answer amounts to; `because` is the appliance's own text in part. */
export type Verdict = ({ readonly value: unknown } | { readonly reason: FailureReason; readonly because: string }) & {
  /** True when the answer proves that the key was accepted. */
  readonly provesKey: boolean;
};

/** A body as JSON, or why it is not read as such. */
type Body = { readonly json: unknown } | Excess;

/** Reads an answer as the reply that the row promises, or says what is wrong with it. Parses the body once. */
export function judgeAnswer(answer: Answer, { schema, maxValues }: Expected, decode: Decode): Verdict {
  if (answer.status !== 200) return judgeRefusal(answer, maxValues);
  const { mediaType, text } = answer;
  const malformed = (because: string) => ({ reason: 'malformed', because, provesKey: false }) as const;
  const expected = 'type' in schema && schema.type === 'string' ? 'text/plain' : 'application/json';
  // Early releases label JSON as text (docs/api.md §3.19 and §7).
  if (mediaType !== expected && mediaType !== 'text/plain')
    return malformed(`expected ${expected}, got ${mediaType || 'no content type'}`);
  const body = expected === 'text/plain' ? { json: text } : parse(text, maxValues);
  if ('reason' in body) return { ...body, provesKey: false };
  if (isErrorRow(body.json))
    return malformed(`the appliance answered 200 with an error${sentenceOf(body.json, mediaType)}`);
  const checked = decode(schema, body.json);
  return checked.ok ? { value: body.json, provesKey: true } : { ...checked, provesKey: false };
}

/** The body of a refusal says more than its status only where it is JSON of the API, within the bounds of a reply. */
function judgeRefusal({ status, mediaType, text }: Answer, maxValues: number): Verdict {
  const body = mediaType === 'application/json' ? parse(text, maxValues) : undefined;
  const json = body && 'json' in body ? body.json : undefined;
  // Early releases refuse a deactivated appliance's calls with 403, told apart by the key of the machine (docs/api.md §3.19).
  const isUnlicensed = status === 402 || (status === 403 && fieldOf(json, 'certificate_key') !== undefined);
  return {
    reason: isUnlicensed ? 'unlicensed' : reasonOfStatus(status),
    because: `the appliance answered ${status}${sentenceOf(json, mediaType)}`,
    provesKey: provesKey(status, isUnlicensed ? mediaType === 'application/json' : isErrorRow(json)),
  };
}

/**
 * The key is checked before the route (docs/api.md §1.2), so a refusal in the API's own form proves it as well as the reply
 * asked for. Any other answer may come from something that never looked at the key.
 */
function provesKey(status: number, isOfTheApi: boolean): boolean {
  return status >= 400 && status < 500 && status !== 401 && isOfTheApi;
}

/** A web server says that the program is not there; the program itself would say it in JSON. */
export function isForeign404({ status, mediaType }: Pick<Answer, 'status' | 'mediaType'>): boolean {
  return status === 404 && mediaType === 'text/html';
}

/** True when the API itself said that the path or object does not exist. */
export function isMissingRoute({ status, mediaType }: Answer): boolean {
  return status === 404 && mediaType === 'application/json';
}

/** The value of a header; the last one where it is sent twice, as some appliances do with Date. */
export function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.at(-1) : value) ?? '';
}

/** The type that a Content-Type header names, in lower case and without its parameters. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

const usualStatuses: ReadonlySet<number> = new Set([
  200, 201, 204, 301, 302, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 414, 415, 422, 429, 500,
  501, 502, 503, 504,
]);

/** A status as a label value: an unusual one as its class, or who makes up statuses makes up series. */
export function codeOfStatus(status: number): string {
  if (usualStatuses.has(status)) return String(status);
  return status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
}

/** Characters of a message. A log line has fewer; what follows would cost time for nothing. */
const maxMessage = 1_000;

function sentenceOf(json: unknown, mediaType: string): string {
  const message = fieldOf(json, 'message');
  if (typeof message === 'string') return `: ${message.slice(0, maxMessage)}`;
  return mediaType === 'text/html' ? ' with a page of its web server, not of the API' : '';
}

/** `error` is the string "true" (docs/api.md §1.5). */
function isErrorRow(body: unknown): boolean {
  const error = fieldOf(body, 'error');
  return error === 'true' || error === true;
}

function fieldOf(body: unknown, field: string): unknown {
  return isRecord(body) ? body[field] : undefined;
}

function parse(text: string, maxValues: number): Body {
  const excess = excessOf(text, maxValues);
  if (excess) return excess;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return { reason: 'malformed', because: `the body is not JSON (${text.length} characters)` };
  }
}
