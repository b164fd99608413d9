import type { TSchema } from 'typebox';
import type { Dispatcher } from 'undici';
import { isRecord } from '../lib/check.ts';
import { truncate } from '../lib/text.ts';
import { decode, type OnUnreadable } from './decode.ts';
import { type FailureReason, reasonOfStatus } from './errors.ts';
import { faultOf, type ReplyFault, withLengthOf } from './reply-bounds.ts';
import { lengthKeyword } from './wire-types.ts';

export interface ApplianceResponse {
  readonly status: number;
  /** Lower case, without parameters; empty when the response names none. */
  readonly mediaType: string;
  /** The coding of the body, such as `gzip`; absent or empty for none. */
  readonly encoding?: string;
  /** The text of the response, without keys. */
  readonly text: string;
}

export interface ReplySpec {
  readonly schema: TSchema;
  /** Values that the reply may hold. */
  readonly maxValues: number;
  readonly onUnreadable?: OnUnreadable | undefined;
}

/** The result of checking a response; `because` may quote the appliance. */
export type CheckedResponse = (
  | { readonly value: unknown }
  | { readonly reason: FailureReason; readonly because: string }
) & {
  readonly provesKey: boolean;
};

type ParsedBody = { readonly json: unknown } | ReplyFault;

/** Checks a response against its row of the endpoint table. Parses the body once. */
export function checkResponse(response: ApplianceResponse, spec: ReplySpec): CheckedResponse {
  const { schema, maxValues, onUnreadable } = spec;
  if (response.status !== 200) return checkErrorResponse(response, maxValues);
  const { mediaType, encoding = '', text } = response;
  const malformed = (because: string) => ({ reason: 'malformed', because, provesKey: false }) as const;
  if (!['', 'identity', 'chunked'].includes(encoding.toLowerCase()))
    return malformed(`the answer is compressed (${encoding}), which nobody asked for`);
  const expected = 'type' in schema && schema.type === 'string' ? 'text/plain' : 'application/json';
  // Early releases label JSON as text (docs/api.md §3.19 and §7).
  if (mediaType !== expected && mediaType !== 'text/plain')
    return malformed(`expected ${expected}, got ${mediaType || 'no content type'}`);
  const body = expected === 'text/plain' ? { json: text } : parse(withoutLongList(schema, text), maxValues);
  if ('reason' in body) return { ...body, provesKey: false };
  if (isErrorRow(body.json))
    return malformed(`the appliance answered 200 with an error${sentenceOf(body.json, mediaType)}`);
  const fault = decode(schema, body.json, onUnreadable);
  return fault ? { ...fault, provesKey: false } : { value: body.json, provesKey: true };
}

/** Replaces a list by its length, if the schema reads nothing else of it. */
function withoutLongList(schema: TSchema, text: string): string {
  const list = lengthKeyword in schema ? schema[lengthKeyword] : undefined;
  return typeof list === 'string' ? withLengthOf(list, text) : text;
}

/**
 * Checks a response other than 200. Its body is used only if it is JSON of the API, within the
 * bounds of a reply.
 */
function checkErrorResponse({ status, mediaType, text }: ApplianceResponse, maxValues: number): CheckedResponse {
  const body = mediaType === 'application/json' ? parse(text, maxValues) : undefined;
  const json = body && 'json' in body ? body.json : undefined;
  // Early releases answer 403 when deactivated; the certificate key in the body marks it
  // (docs/api.md §3.19).
  const isDeactivated = status === 402 || (status === 403 && bodyField(json, 'certificate_key') !== undefined);
  return {
    reason: isDeactivated ? 'unlicensed' : reasonOfStatus(status),
    because: `the appliance answered ${status}${sentenceOf(json, mediaType)}`,
    provesKey: provesKey(status, isDeactivated ? mediaType === 'application/json' : isErrorRow(json)),
  };
}

/**
 * Returns true if a refusal proves that the key was accepted: the API checks the key before the
 * route (docs/api.md §1.2). A response in another form may come from something that never checked
 * the key.
 */
function provesKey(status: number, isOfTheApi: boolean): boolean {
  return status >= 400 && status < 500 && status !== 401 && isOfTheApi;
}

/**
 * Returns true if a web server says that there is no API under the path; the API itself would
 * answer in JSON.
 */
export function isForeign404({ status, mediaType }: Pick<ApplianceResponse, 'status' | 'mediaType'>): boolean {
  return status === 404 && mediaType === 'text/html';
}

/** Returns true if the API itself says that the path or object does not exist. */
export function isMissingRoute({ status, mediaType }: ApplianceResponse): boolean {
  return status === 404 && mediaType === 'application/json';
}

/**
 * Returns the value of a header; the last one if it is repeated, as some appliances do with Date.
 */
export function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.at(-1) : value) ?? '';
}

/** Returns the media type of a Content-Type header, in lower case and without parameters. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

const knownStatuses: ReadonlySet<number> = new Set([
  200, 201, 204, 301, 302, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 414, 415, 422, 429, 500,
  501, 502, 503, 504,
]);

/**
 * Returns a status as a label value; an unknown one as its class, or an appliance could invent
 * label values.
 */
export function codeOfStatus(status: number): string {
  if (knownStatuses.has(status)) return String(status);
  return status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
}

/** Maximum length of a quoted message; a log line is shorter. */
const maxMessage = 1_000;

function sentenceOf(json: unknown, mediaType: string): string {
  const message = bodyField(json, 'message');
  if (typeof message === 'string') return `: ${truncate(message, maxMessage)}`;
  return mediaType === 'text/html' ? ' with a page of its web server, not of the API' : '';
}

/** Returns true if `error` is the string "true" (docs/api.md §1.5). */
function isErrorRow(body: unknown): boolean {
  const error = bodyField(body, 'error');
  return error === 'true' || error === true;
}

function bodyField(body: unknown, field: string): unknown {
  return isRecord(body) ? body[field] : undefined;
}

function parse(text: string, maxValues: number): ParsedBody {
  const fault = faultOf(text, maxValues);
  if (fault) return fault;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return { reason: 'malformed', because: `the body is not JSON (${text.length} characters)` };
  }
}
