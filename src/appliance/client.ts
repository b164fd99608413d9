import type { Static, TSchema } from 'typebox';
import type { Dispatcher } from 'undici';
import { errorCode, isRecord } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import type { Decode } from './decode.ts';
import type { EndpointRow } from './endpoints/row.ts';
import { endpoints } from './endpoints/table.ts';
import { ApplianceError, type FailureReason, reasonOfStatus } from './errors.ts';
import { describeTransportError, reasonOfTransportError } from './failure.ts';
import { fillTemplate, parseRoute, type RouteParams } from './route.ts';

type Rows = typeof endpoints;

/** The calls that polling may make: reads of the table whose reply has a schema. */
export type ReadKey = {
  [Key in keyof Rows]: Rows[Key] extends { readonly route: `GET ${string}`; readonly reply: TSchema } ? Key : never;
}[keyof Rows];

export type Reply<Key extends ReadKey> = Rows[Key] extends { readonly reply: infer Schema extends TSchema }
  ? Static<Schema>
  : never;

export type Params<Key extends ReadKey> = Rows[Key] extends { readonly route: infer R extends string }
  ? RouteParams<R>
  : never;

/** What one exchange with the appliance came to; reported once for every request that left. */
export interface CallReport {
  readonly method: string;
  /** The route template. */
  readonly endpoint: string;
  /** The HTTP status, or the reason when no answer came. */
  readonly code: string;
  readonly reason: FailureReason | undefined;
  /** Seconds the appliance was busy with it, as seen from here. */
  readonly seconds: number;
  /** True when the answer proves that the key was accepted. */
  readonly authenticated: boolean;
  /** The appliance's clock minus ours, in seconds; undefined when the answer has no date. */
  readonly clockOffsetSeconds: number | undefined;
}

export interface ClientOptions extends ConnectionOptions {
  readonly apiKey: Secret;
  readonly keyHeader: 'auto' | 'ZAPI_KEY' | 'API_KEY' | 'ZAPI-KEY' | 'API-KEY';
  readonly decode: Decode;
  readonly now: () => number;
  readonly onCall: (report: CallReport) => void;
}

/** Reads from one appliance. Every failure is an {@link ApplianceError}. */
export interface ApplianceClient {
  /** Rejects with `timeout` when `signal` aborts with a TimeoutError, with `cancelled` when it aborts for another reason. */
  read<Key extends ReadKey>(key: Key, params: Params<Key>, signal: AbortSignal): Promise<Reply<Key>>;
  close(): Promise<void>;
}

/** The path of the document, and the one that older product lines know (WIRE.md §1.1). */
const knownBasePaths = ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'] as const;

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Opens no connection until the first call. */
export function createApplianceClient(options: ClientOptions): ApplianceClient {
  const { url, apiKey, decode, now, onCall, timeoutMs } = options;
  const connection = createConnection(options);
  const basePaths: readonly string[] = url.pathname === '/' ? knownBasePaths : [url.pathname.replace(/\/$/, '')];
  const headers = { accept: '*/*', ...keyHeaders(options) };
  let current = 0;

  return {
    async read(key, params, signal) {
      const row: EndpointRow = endpoints[key];
      const { method, template } = parseRoute(row.route);
      if (method !== 'GET' || !row.reply) throw new TypeError(`${row.route} is not a read`);
      const path = fillTemplate(template, params);
      if (path === undefined) {
        throw new ApplianceError('bad_request', {
          endpoint: template,
          message: `GET ${template}: a name that no path can carry was not asked for`,
        });
      }
      const answer = await findBasePath(template, path, signal);
      return decodeAnswer(template, row.reply, answer) as never;
    },
    close: () => connection.close(),
  };

  /** A web server's HTML 404 says that the program is not there; the product lines know it under two paths. */
  async function findBasePath(endpoint: string, path: string, signal: AbortSignal): Promise<Answer> {
    const answer = await exchange(endpoint, `${basePaths[current]}${path}`, signal);
    // One program path configured means that it is the one to ask.
    if (!isForeign404(answer) || basePaths.length === 1) return answer;
    const other = 1 - current;
    const second = await exchange(endpoint, `${basePaths[other]}${path}`, signal);
    if (!isForeign404(second)) current = other;
    return second;
  }

  async function exchange(endpoint: string, path: string, signal: AbortSignal, isRetry = false): Promise<Answer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    const startedAt = now();
    let answered = false;
    const report = (
      code: string,
      reason: FailureReason | undefined,
      authenticated = false,
      clockOffsetSeconds?: number,
    ): void =>
      onCall({
        method: 'GET',
        endpoint,
        code,
        reason,
        seconds: (now() - startedAt) / 1_000,
        authenticated,
        clockOffsetSeconds,
      });
    try {
      const response = await connection.request({ method: 'GET', path, headers, signal: either });
      answered = true;
      const receivedAt = now();
      const text = await response.body.text();
      const answer = { status: response.statusCode, contentType: header(response.headers, 'content-type'), text };
      const reason = reasonOfAnswer(answer);
      report(String(answer.status), reason, provesKey(answer), clockOffset(response.headers, startedAt, receivedAt));
      return answer;
    } catch (error) {
      connection.reset();
      const timedOut = deadline.signal.aborted || (signal.aborted && isTimeout(signal.reason));
      const reason = reasonOfTransportError(error, timedOut ? 'deadline' : signal.aborted ? 'caller' : 'nobody');
      report(reason, reason);
      if (reason === 'connect' && !answered && !isRetry && isClosedSocket(error))
        return await exchange(endpoint, path, signal, true);
      const message = `GET ${endpoint}: ${apiKey.scrub(describeTransportError(error, reason))}`;
      throw new ApplianceError(reason, { endpoint, message, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  function decodeAnswer(endpoint: string, schema: TSchema, answer: Answer): unknown {
    const { status } = answer;
    const fail = (reason: FailureReason, what: string): never => {
      const routeMissing = status === 404 && mediaType(answer) === 'application/json';
      throw new ApplianceError(reason, {
        endpoint,
        status,
        routeMissing,
        message: `GET ${endpoint}: ${apiKey.scrub(what)}`,
      });
    };
    const reason = reasonOfAnswer(answer);
    if (reason) return fail(reason, `the appliance answered ${status}${sentenceOf(answer)}`);
    const expected = 'type' in schema && schema.type === 'string' ? 'text/plain' : 'application/json';
    if (mediaType(answer) !== expected)
      return fail('malformed', `expected ${expected}, got ${mediaType(answer) || 'no content type'}`);
    if (expected === 'text/plain') return answer.text;
    const body = parseJson(answer.text);
    if (body === undefined) return fail('malformed', `the body is not JSON (${answer.text.length} characters)`);
    const checked = decode(schema, body);
    return checked.ok ? body : fail('malformed', checked.because);
  }
}

function keyHeaders({ apiKey, keyHeader }: ClientOptions): Record<string, string> {
  const names = keyHeader === 'auto' ? ['ZAPI_KEY', 'API_KEY'] : [keyHeader];
  return Object.fromEntries(names.map((name) => [name, apiKey.reveal()]));
}

function reasonOfAnswer(answer: Answer): FailureReason | undefined {
  if (answer.status === 200) return undefined;
  // Early releases refuse a deactivated appliance's calls with 403, told apart by the key of the machine (WIRE.md §3.19).
  if (answer.status === 403 && jsonField(answer, 'certificate_key') !== undefined) return 'unlicensed';
  return reasonOfStatus(answer.status);
}

/** The key is checked before the route (WIRE.md §1.2), so any answer of the API itself but 401 proves it. */
function provesKey(answer: Answer): boolean {
  const { status } = answer;
  if (status === 200) return mediaType(answer) === 'application/json' || mediaType(answer) === 'text/plain';
  return status >= 400 && status < 500 && status !== 401 && mediaType(answer) === 'application/json';
}

function isForeign404(answer: Answer): boolean {
  return answer.status === 404 && mediaType(answer) === 'text/html';
}

/** The appliance's own sentence, one line of at most 200 characters. */
function sentenceOf(answer: Answer): string {
  const message = jsonField(answer, 'message');
  if (typeof message !== 'string')
    return mediaType(answer) === 'text/html' ? ' with a page of its web server, not of the API' : '';
  return `: ${message.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 200)}`;
}

function jsonField(answer: Answer, field: string): unknown {
  if (mediaType(answer) !== 'application/json') return undefined;
  const body = parseJson(answer.text);
  return isRecord(body) ? body[field] : undefined;
}

function mediaType(answer: Answer): string {
  return (answer.contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function header(headers: Dispatcher.ResponseData['headers'], name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.at(-1) : value) ?? '';
}

/**
 * The appliance's clock against ours, in seconds. The header has whole seconds and was written at some moment between
 * our two readings; 0 says that the clocks agree within what that can show.
 */
function clockOffset(
  headers: Dispatcher.ResponseData['headers'],
  sentAt: number,
  receivedAt: number,
): number | undefined {
  const second = Date.parse(header(headers, 'date'));
  if (Number.isNaN(second)) return undefined;
  const earliest = second - receivedAt;
  const latest = second + 1_000 - sentAt;
  return earliest <= 0 && latest >= 0 ? 0 : Math.round((earliest + latest) / 2) / 1_000;
}

/** The appliance closed a kept-alive connection just as we used it; it never saw the request. */
function isClosedSocket(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCode(error));
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
