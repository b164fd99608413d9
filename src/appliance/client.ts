import type { Static, TSchema } from 'typebox';
import { oneLine } from '../lib/text.ts';
import { steadyNow } from '../lib/steady-now.ts';
import {
  type Answer,
  codeOfStatus,
  type Expected,
  headerOf,
  isForeign404,
  isMissingRoute,
  judgeAnswer,
  mediaTypeOf,
  type Verdict,
} from './answer.ts';
import { basePathsOf } from './base-paths.ts';
import { clockOffset } from './clock-offset.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { abortedBy, timeoutOfOurs } from './deadline.ts';
import type { Decode } from './decode.ts';
import type { EndpointRow } from './endpoints/row.ts';
import { endpoints } from './endpoints/table.ts';
import { ApplianceError, type FailureReason } from './errors.ts';
import { isClosedSocket, messageOf, reasonOfTransportError, remedyFor } from './failure.ts';
import { type KeyOptions, keyHeaders, keysToHide } from './key-headers.ts';
import { maxValuesOf } from './reply-bounds.ts';
import { fillTemplate, parseRoute, type RouteParams } from './route.ts';
import { createBodyScrubber } from './scrub-body.ts';

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

/** What one exchange with the appliance came to; reported once for every request that reached it, or should have. */
export interface CallReport {
  readonly method: string;
  /** The route template. */
  readonly endpoint: string;
  /** The HTTP status, an unusual one as its class such as `4xx`, or the reason when no answer came. */
  readonly code: string;
  readonly reason: FailureReason | undefined;
  /** Seconds the appliance was busy with it, as seen from here. */
  readonly seconds: number;
  /** True when the answer proves that the key was accepted. */
  readonly authenticated: boolean;
  /** The appliance's clock minus ours, in seconds; undefined when the answer has no date. */
  readonly clockOffsetSeconds: number | undefined;
}

export interface ClientOptions extends Omit<ConnectionOptions, 'keepAliveMs'>, KeyOptions {
  readonly decode: Decode;
  /** Unix milliseconds, for the comparison of clocks. */
  readonly now: () => number;
  readonly onCall: (report: CallReport) => void;
}

/** Reads from one appliance. Every failure is an {@link ApplianceError}. */
export interface ApplianceClient {
  /** Rejects with `timeout` when `signal` aborts with a TimeoutError, with `cancelled` when it aborts for another reason. */
  read<Key extends ReadKey>(key: Key, params: Params<Key>, signal: AbortSignal): Promise<Reply<Key>>;
  /** Lets what is under way end, and takes nothing new. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** Polls of one appliance are seconds apart; the appliance's own keep-alive hint, when it sends one, wins. */
const keepAliveMs = 60_000;

interface Call {
  readonly endpoint: string;
  /** Below the base path, encoded. */
  readonly path: string;
  readonly reply: Expected;
}

interface Exchange {
  readonly answer: Answer;
  readonly verdict: Verdict;
}

/** Opens no connection until the first call. */
export function createApplianceClient(options: ClientOptions): ApplianceClient {
  const { url, decode, now, onCall, timeoutMs, bodyBytes } = options;
  const keys = keysToHide(options);
  const scrubBody = createBodyScrubber(keys);
  const connection = createConnection({ ...options, keepAliveMs });
  const basePaths = basePathsOf(url);
  const headers = { accept: '*/*', ...keyHeaders(options) };
  let current = 0;
  /** True while a connection may be open that has carried an answer, and may have been closed since. */
  let mayBeIdle = false;

  return {
    async read(key, params, signal) {
      const row: EndpointRow = endpoints[key];
      const { method, template: endpoint } = parseRoute(row.route);
      if (method !== 'GET' || !row.reply) throw new TypeError(`${row.route} is not a read`);
      const path = fillTemplate(endpoint, params);
      if (path === undefined) {
        const message = `GET ${endpoint}: a name that no path can carry was not asked for`;
        throw new ApplianceError('bad_request', { endpoint, message });
      }
      const reply = { schema: row.reply, maxValues: maxValuesOf(row.maxValues, bodyBytes) };
      const { answer, verdict } = await findBasePath({ endpoint, path, reply }, signal);
      if ('value' in verdict) return verdict.value as never;
      throw new ApplianceError(verdict.reason, {
        endpoint,
        status: answer.status,
        routeMissing: isMissingRoute(answer),
        message: `GET ${endpoint}: ${presentable(verdict.because)}`,
      });
    },
    retire: () => connection.retire(),
    close: () => connection.close(),
  };

  /** A web server's HTML 404 says that the program is not there; the product lines know it under two paths. */
  async function findBasePath(call: Call, signal: AbortSignal): Promise<Exchange> {
    const first = await exchange(call, current, signal);
    // One program path configured means that it is the one to ask.
    if (!isForeign404(first.answer) || basePaths.length === 1) return first;
    const other = 1 - current;
    const second = await exchange(call, other, signal);
    if (!isForeign404(second.answer)) current = other;
    return second;
  }

  async function exchange(call: Call, base: number, signal: AbortSignal): Promise<Exchange> {
    // By hand: AbortSignal.any leaves weak references behind, and this is every call.
    const ending = new AbortController();
    const leave = (): void => ending.abort(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const timer = setTimeout(() => ending.abort(timeoutOfOurs), timeoutMs);
    try {
      return await attempt(call, `${basePaths[base]}${call.path}`, ending.signal, mayBeIdle);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  async function attempt(call: Call, path: string, signal: AbortSignal, mayRetry: boolean): Promise<Exchange> {
    const { endpoint, reply } = call;
    const startedAt = steadyNow();
    const sentAt = now();
    let answered = false;
    let answeredAt = sentAt;
    const report = (outcome: Pick<CallReport, 'code' | 'reason' | 'authenticated' | 'clockOffsetSeconds'>): void =>
      onCall({ method: 'GET', endpoint, seconds: (steadyNow() - startedAt) / 1_000, ...outcome });
    try {
      const onAnswer = (): void => {
        answered = true;
        answeredAt = now();
        mayBeIdle = true;
      };
      const whole = await connection.read({ path, headers, signal, onAnswer });
      const clockOffsetSeconds = clockOffset(headerOf(whole.headers, 'date'), sentAt, answeredAt);
      // Before anything is read from it: an appliance may echo the key in a name as well as in a message.
      const text = scrubBody(whole.text);
      const mediaType = mediaTypeOf(scrubbed(headerOf(whole.headers, 'content-type')));
      const answer = { status: whole.status, mediaType, text };
      const verdict = judgeAnswer(answer, reply, decode);
      report({
        code: codeOfStatus(answer.status),
        reason: 'reason' in verdict ? verdict.reason : undefined,
        authenticated: verdict.provesKey,
        clockOffsetSeconds,
      });
      return { answer, verdict };
    } catch (error) {
      connection.reset();
      mayBeIdle = false;
      // The appliance closed a kept-alive connection just as we used it: it never saw the request.
      if (mayRetry && !answered && !signal.aborted && isClosedSocket(error))
        return await attempt(call, path, signal, false);
      const reason = reasonOfTransportError(error, abortedBy(signal));
      report({ code: reason, reason, authenticated: false, clockOffsetSeconds: undefined });
      // Without the cause: a parser's error holds the bytes it tripped over, and an appliance may echo the key in them.
      const message = `GET ${endpoint}: ${presentable(messageOf(error))}${remedyFor(reason)}`;
      throw new ApplianceError(reason, { endpoint, message });
    }
  }

  /** A text from outside as part of a message. Scrubbed before it is cut, or half a key would stay. */
  function presentable(text: string): string {
    return oneLine(scrubbed(text), 250);
  }

  function scrubbed(text: string): string {
    return keys.reduce((clean, key) => key.scrub(clean), text);
  }
}
