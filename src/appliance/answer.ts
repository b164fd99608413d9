import type { TSchema } from 'typebox';
import type { Dispatcher } from 'undici';
import { isRecord } from '../lib/check.ts';
import type { Decode } from './decode.ts';
import { type FailureReason, reasonOfStatus } from './errors.ts';

/** A complete answer to a GET. */
export interface Answer {
  readonly status: number;
  /** Lower case, without parameters; empty when the answer names none. */
  readonly mediaType: string;
  readonly text: string;
}

/** What an answer amounts to; `because` is the appliance's own text in part, neither cut nor scrubbed. */
export type Verdict = { readonly value: unknown } | { readonly reason: FailureReason; readonly because: string };

/** Reads an answer as the reply that the row promises, or says what is wrong with it. */
export function judgeAnswer(answer: Answer, schema: TSchema, decode: Decode): Verdict {
  const { status, mediaType, text } = answer;
  const reason = reasonOfAnswer(answer);
  if (reason) return { reason, because: `the appliance answered ${status}${sentenceOf(answer)}` };
  const malformed = (because: string): Verdict => ({ reason: 'malformed', because });
  const expected = 'type' in schema && schema.type === 'string' ? 'text/plain' : 'application/json';
  // Early releases label JSON as text (WIRE.md §3.19 and §7).
  if (mediaType !== expected && mediaType !== 'text/plain')
    return malformed(`expected ${expected}, got ${mediaType || 'no content type'}`);
  const body = expected === 'text/plain' ? text : parseJson(text);
  if (body === undefined) return malformed(`the body is not JSON (${text.length} characters)`);
  if (isErrorRow(body)) return malformed(`the appliance answered ${status} with an error${sentenceOf(answer)}`);
  const checked = decode(schema, body);
  return checked.ok ? { value: body } : malformed(checked.because);
}

/**
 * The key is checked before the route (WIRE.md §1.2), so the reply asked for proves it, and so does a refusal in the API's
 * own form. Any other answer may come from something that never looked at the key.
 */
export function provesKey(answer: Answer, verdict: Verdict): boolean {
  const { status, mediaType } = answer;
  if (status === 200) return 'value' in verdict;
  if (status < 400 || status >= 500 || status === 401) return false;
  return reasonOfAnswer(answer) === 'unlicensed' ? mediaType === 'application/json' : isErrorRow(bodyOf(answer));
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

function reasonOfAnswer(answer: Answer): FailureReason | undefined {
  if (answer.status === 200) return undefined;
  // Early releases refuse a deactivated appliance's calls with 403, told apart by the key of the machine (WIRE.md §3.19).
  if (answer.status === 403 && fieldOf(bodyOf(answer), 'certificate_key') !== undefined) return 'unlicensed';
  return reasonOfStatus(answer.status);
}

function sentenceOf(answer: Answer): string {
  const message = fieldOf(bodyOf(answer), 'message');
  if (typeof message === 'string') return `: ${message}`;
  return answer.mediaType === 'text/html' ? ' with a page of its web server, not of the API' : '';
}

/** `error` is the string "true" (WIRE.md §1.5). */
function isErrorRow(body: unknown): boolean {
  const error = fieldOf(body, 'error');
  return error === 'true' || error === true;
}

function bodyOf({ mediaType, text }: Answer): unknown {
  return mediaType === 'application/json' ? parseJson(text) : undefined;
}

function fieldOf(body: unknown, field: string): unknown {
  return isRecord(body) ? body[field] : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
