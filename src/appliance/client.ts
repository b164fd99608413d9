// Reads from one appliance: sends a GET, checks status, JSON and schema of the response, and turns
// every failure into a reason of a closed list. Only routes of api/table.ts that change nothing can
// be asked for; the types hold that. The client owns its connections; the base path that it found
// is shared by all connections to the appliance (base-paths.ts). Calls may run at the same time;
// the caller limits their number. Read on in api/table.ts, connection.ts, response.ts, decode.ts and
// errors.ts; relay.ts sends the calls of the gateway.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Static, TSchema } from 'typebox';
import { errorCode } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import {
  type ApplianceResponse,
  codeOfStatus,
  headerOf,
  isForeign404,
  isMissingRoute,
  checkResponse,
  mediaTypeOf,
  type CheckedResponse,
  type ReplySpec,
} from './response.ts';
import { BasePaths } from './base-paths.ts';
import { CallDeadline } from './call-deadline.ts';
import { fillTemplate, parseRoute, type RouteParams } from './route.ts';
import { type ApplianceConnection, type Validity, type ConnectionOptions, createConnection } from './connection.ts';
import {
  abortedBy,
  ApplianceError,
  type FailureReason,
  isClosedSocket,
  messageOf,
  reasonOfTransportError,
  remedyFor,
} from './errors.ts';
import type { Unreadable } from './decode.ts';
import type { SafeFarmName } from './safe-farm-name.ts';
import type { EndpointRow } from './api/row.ts';
import { endpoints } from './api/table.ts';
import { createBodyScrubber, keyHeaders, type KeyOptions, keysToHide, presentable, scrub } from './api-key.ts';
import { maxValuesOf } from './reply-bounds.ts';

type Rows = typeof endpoints;

/**
 * The calls that polling may make: reads of the table whose reply has a schema, and that do nothing
 * else at every call.
 */
export type ReadKey = {
  [Key in keyof Rows]: Rows[Key] extends { readonly route: `GET ${string}`; readonly reply: TSchema }
    ? Rows[Key] extends { readonly readSideEffect: { readonly on: 'every call' } }
      ? never
      : Key
    : never;
}[keyof Rows];

/** The reads with a side effect on L4 farms: they take a {@link SafeFarmName}. */
type FarmReadKey = {
  [Key in ReadKey]: Rows[Key] extends { readonly readSideEffect: { readonly on: 'l4xnat' } } ? Key : never;
}[ReadKey];

export type ReplyOf<Key extends ReadKey> = Rows[Key] extends { readonly reply: infer Schema extends TSchema }
  ? Static<Schema>
  : never;

export type Params<Key extends ReadKey> = Key extends FarmReadKey
  ? { readonly farmname: SafeFarmName }
  : Rows[Key] extends { readonly route: infer R extends string }
    ? RouteParams<R>
    : never;

/**
 * The result of one request to the appliance; reported for every request that was sent, or failed
 * to be.
 */
export interface CallReport {
  readonly method: string;
  readonly endpoint: string;
  /**
   * The HTTP status, an unusual one as its class such as `4xx`, or the reason if no response came.
   */
  readonly code: string;
  readonly reason: FailureReason | undefined;
  /** Seconds from the request to the end of the response. */
  readonly seconds: number;
  /** True for a read that may wait for proxies: its timeout says nothing of the appliance. */
  readonly waitsForProxies?: boolean;
  /** True for a 404 of the web server: the API may be below the next path, which is asked then. */
  readonly triesNextPath?: boolean;
  /** True when the response proves that the key was accepted. */
  readonly authenticated: boolean;
  /** The appliance's clock minus ours, in seconds; undefined when the response has no date. */
  readonly clockOffsetSeconds: number | undefined;
  readonly certificate?: Validity | undefined;
}

/** A field of a reply that could not be read in part. */
export interface UnreadableField extends Unreadable {
  readonly endpoint: string;
}

export interface ClientOptions extends Omit<ConnectionOptions, 'keepAliveMs'>, KeyOptions {
  /** Shared by all connections to an appliance, so that one alone searches. */
  readonly basePaths?: BasePaths | undefined;
  /** For the comparison of clocks. */
  readonly now: () => number;
  readonly onCall: (report: CallReport) => void;
}

export interface ReadOptions {
  /** Defaults to the configured limit, or to what the appliance itself may wait, if longer. */
  readonly limitMs?: number | undefined;
  /**
   * Receives what cannot be read in a reply, see decode.ts; without it, a reply that lacks a row or
   * a word is `malformed`.
   */
  readonly onUnreadable?: ((found: readonly UnreadableField[]) => void) | undefined;
}

/** Reads from one appliance. Every failure is an {@link ApplianceError}. */
export interface ApplianceClient {
  /**
   * Rejects with `timeout` when `signal` aborts with a TimeoutError or `limitMs` is over, with
   * `cancelled` when it aborts for another reason.
   */
  read<Key extends ReadKey>(
    key: Key,
    params: Params<Key>,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<ReplyOf<Key>>;
  /** Lets calls under way end, and accepts no new ones. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** Characters of a reply from which on other work runs between decoding it and using it. */
const longReply = 100_000;

/** Polls of one appliance are seconds apart. The appliance's own keep-alive hint wins. */
const keepAliveMs = 60_000;

interface Call {
  readonly endpoint: string;
  /** Below the base path, encoded. */
  readonly path: string;
  readonly spec: ReplySpec;
  readonly limitMs: number;
  readonly waitsForProxies: boolean;
  /** True if another base path is tried after it. */
  readonly triesNextPath?: boolean;
}

/** Creates a client; opens no connection until the first call. */
export function createApplianceClient(options: ClientOptions): ApplianceClient {
  const { url, timeoutMs, bodyBytes, basePaths = new BasePaths() } = options;
  // The deadline of each call is what counts.
  const longestMs = Math.max(timeoutMs, ...Object.values(endpoints).map((row: EndpointRow) => row.maxProxyWaitMs ?? 0));
  const keys = keysToHide(options);
  const connection = createConnection({ ...options, timeoutMs: longestMs, connectMs: timeoutMs, keepAliveMs });
  const exchange = createExchange(options, connection);

  /** Asks below the first path, and below the next one where a web server has no API there. */
  async function ask(
    call: Call,
    [basePath = '', ...others]: readonly string[],
    signal: AbortSignal,
  ): Promise<ApplianceResponse & CheckedResponse> {
    const isLast = others.length === 0;
    const deadline = new CallDeadline(signal);
    deadline.startTimer(call.limitMs);
    const sent = exchange({ ...call, triesNextPath: !isLast }, `${basePath}${call.path}`, deadline.signal);
    const response = await sent.finally(() => deadline.release());
    return basePaths.judge(url, basePath, response) || isLast ? response : await ask(call, others, signal);
  }

  return {
    async read(key, params, signal, { limitMs, onUnreadable } = {}) {
      const row: EndpointRow = endpoints[key];
      const { method, template: endpoint } = parseRoute(row.route);
      if (method !== 'GET' || !row.reply) throw new TypeError(`${row.route} is not a read`);
      const path = fillTemplate(endpoint, params);
      if (path === undefined) {
        const message = `GET ${endpoint}: a name that no path can carry was not asked for`;
        throw new ApplianceError('bad_request', { endpoint, message });
      }
      const reportUnreadable = (found: readonly Unreadable[]): void =>
        onUnreadable?.(found.map((each) => ({ ...each, endpoint, example: presentable(each.example, keys) })));
      const spec = {
        schema: row.reply,
        maxValues: maxValuesOf(row.maxValues, bodyBytes),
        onUnreadable: onUnreadable && reportUnreadable,
      };
      const { maxProxyWaitMs = 0 } = row;
      const call = {
        endpoint,
        path,
        spec,
        limitMs: limitMs ?? Math.max(timeoutMs, maxProxyWaitMs),
        waitsForProxies: maxProxyWaitMs > 0,
      };
      const response = await ask(call, basePaths.candidates(url), signal);
      if (response.text.length > longReply) await yieldToEventLoop();
      if ('value' in response) return response.value as never;
      throw new ApplianceError(response.reason, {
        endpoint,
        status: response.status,
        routeMissing: isMissingRoute(response),
        message: `GET ${endpoint}: ${presentable(response.because, keys)}`,
      });
    },
    retire: () => connection.retire(),
    close: () => connection.close(),
  };
}

/** Creates a function that sends one request, reads and checks its response, and reports the call. */
function createExchange({ now, onCall, ...options }: ClientOptions, connection: ApplianceConnection) {
  const keys = keysToHide(options);
  const scrubBody = createBodyScrubber(keys);
  const headers = { accept: '*/*', ...keyHeaders(options) };
  /** True while an open connection may have been closed by the appliance after its last response. */
  let mayBeIdle = false;

  return exchange;

  async function exchange(
    call: Call,
    path: string,
    signal: AbortSignal,
    mayRetry = mayBeIdle,
  ): Promise<ApplianceResponse & CheckedResponse> {
    const { endpoint, spec, waitsForProxies, triesNextPath = false } = call;
    const startSteadyMs = steadyNow();
    const sentAtMs = now();
    let answered = false;
    let answeredAtMs = sentAtMs;
    const report = (outcome: Omit<CallReport, 'method' | 'endpoint' | 'waitsForProxies' | 'seconds'>): void =>
      onCall({ method: 'GET', endpoint, waitsForProxies, seconds: (steadyNow() - startSteadyMs) / 1_000, ...outcome });
    try {
      const onHeaders = (): void => {
        answered = true;
        answeredAtMs = now();
        mayBeIdle = true;
      };
      const received = await connection.read({ path, headers, signal, onHeaders });
      const clockOffsetSeconds = clockOffset(headerOf(received.headers, 'date'), sentAtMs, answeredAtMs);
      // Before anything is read from it: an appliance may echo the key in a name or in a message.
      const text = scrubBody(received.text);
      const mediaType = mediaTypeOf(scrub(headerOf(received.headers, 'content-type'), keys));
      const encoding =
        headerOf(received.headers, 'content-encoding') || headerOf(received.headers, 'transfer-encoding');
      const response = { status: received.status, mediaType, encoding, text };
      const checked = checkResponse(response, spec);
      report({
        code: codeOfStatus(response.status),
        reason: 'reason' in checked ? checked.reason : undefined,
        triesNextPath: triesNextPath && isForeign404(response),
        authenticated: checked.provesKey,
        clockOffsetSeconds,
        certificate: connection.certificate(),
      });
      return { ...response, ...checked };
    } catch (error) {
      connection.reset();
      mayBeIdle = false;
      // The appliance closed a kept-alive connection while we used it: it never saw the request.
      if (mayRetry && !answered && !signal.aborted && isClosedSocket(error))
        return await exchange(call, path, signal, false);
      const reason = reasonOfTransportError(error, abortedBy(signal));
      report({ code: reason, reason, authenticated: false, clockOffsetSeconds: undefined });
      // Without the cause: a parser's error contains raw bytes, in which an appliance may echo the
      // key.
      const message = `GET ${endpoint}: ${presentable(messageOf(error), keys)}${remedyFor(reason, error, call.limitMs === options.timeoutMs)}`;
      throw new ApplianceError(reason, { endpoint, message, code: errorCode(error) });
    }
  }
}

const maxClockOffsetMs = 10 * 365.25 * 86_400_000;

/**
 * Returns the appliance's clock minus ours, in seconds. The Date header has whole seconds and was
 * written between `sentAtMs` and `receivedAtMs`; 0 means that the clocks agree
 * within that precision. Undefined if the header is not a date, or more than ten years off.
 */
function clockOffset(date: string, sentAtMs: number, receivedAtMs: number): number | undefined {
  const second = Date.parse(date);
  if (Number.isNaN(second) || Math.abs(second - receivedAtMs) > maxClockOffsetMs) return undefined;
  const earliest = second - receivedAtMs;
  const latest = second + 1_000 - sentAtMs;
  return earliest <= 0 && latest >= 0 ? 0 : Math.round((earliest + latest) / 2) / 1_000;
}
