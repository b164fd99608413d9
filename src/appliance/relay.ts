import { pipeline, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { oneLine } from '../lib/text.ts';
import { headerOf, isForeign404, mediaTypeOf } from './answer.ts';
import { basePathsOf } from './base-paths.ts';
import { readBeginning } from './beginning.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { abortedBy, timeoutOfOurs } from './deadline.ts';
import type { Method } from './endpoints/row.ts';
import { ApplianceError } from './errors.ts';
import { messageOf, reasonOfTransportError } from './failure.ts';
import { type KeyOptions, keyHeaders, keysToHide } from './key-headers.ts';
import { maskStream, maskWhole } from './mask-key.ts';

export interface RelayRequest {
  readonly method: Method;
  /** Below the base URL, encoded. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: Buffer | Readable;
  /** Needed with a stream: the appliance refuses a body of unknown length. */
  readonly contentLength?: number;
  readonly signal: AbortSignal;
  /** Called right before it leaves, once the path of the API is known. What it throws ends the call; nothing was sent then. */
  readonly beforeSending?: () => void;
}

export interface RelayAnswer {
  readonly status: number;
  /** Those that describe the body; all others stay here. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole where it is short. */
  readonly body: Buffer | Readable;
}

/** Forwards requests without reading them, and never sends one twice. Rejects with an {@link ApplianceError}. */
export interface Relay {
  send(request: RelayRequest): Promise<RelayAnswer>;
  /** The URL of a path, for people. */
  urlOf(path: string): string;
  /** Lets what is under way end, and takes nothing new. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface RelayOptions extends Omit<ConnectionOptions, 'keepAliveMs'>, KeyOptions {}

/** Short: a request on a connection that the appliance has just closed would fail, and is not sent twice. */
const keepAliveMs = 2_000;
/** Cheap, allowed to everybody and on every release; asked once, to find out under which path the API is. */
const anyRead = '/system/version';
/** Nearly all answers; longer ones are downloads and lists of sessions. */
const wholeBytes = 65_536;
const relayedHeaders = ['content-type', 'content-length', 'content-disposition', 'content-encoding'] as const;

/** Opens no connection until the first request. */
export function createRelay(options: RelayOptions): Relay {
  const { url, timeoutMs } = options;
  const keys = keysToHide(options);
  const connection = createConnection({ ...options, keepAliveMs });
  const basePaths = basePathsOf(url);
  const key = keyHeaders(options);
  let found = basePaths.length === 1 ? basePaths[0] : undefined;

  return {
    async send(request) {
      // By hand: AbortSignal.any is costly, and this is every call.
      const ending = new AbortController();
      const leave = (): void => ending.abort(request.signal.reason);
      if (request.signal.aborted) leave();
      request.signal.addEventListener('abort', leave, { once: true });
      let timer: NodeJS.Timeout | undefined;
      const startTimer = (): void => {
        timer = setTimeout(() => ending.abort(timeoutOfOurs), timeoutMs);
      };
      // A file takes the time that it takes to go up; then the answer has an end, whatever an appliance sends before it.
      const file = request.body instanceof Readable ? request.body : undefined;
      if (file) file.once('end', startTimer);
      else startTimer();
      // The signal may outlive many calls.
      const end = (): void => request.signal.removeEventListener('abort', leave);
      try {
        const answer = await sendWithin({ ...request, signal: ending.signal });
        if (Buffer.isBuffer(answer.body)) end();
        else answer.body.once('close', end);
        return answer;
      } catch (error) {
        end();
        throw error;
      } finally {
        file?.off('end', startTimer);
        clearTimeout(timer);
      }
    },
    urlOf: (path) => `${url.origin}${found ?? basePaths[0]}${path}`,
    retire: () => connection.retire(),
    close: () => connection.close(),
  };

  async function sendWithin(request: RelayRequest): Promise<RelayAnswer> {
    const basePath = found ?? (await findBasePath(request.signal));
    request.beforeSending?.();
    const answer = await exchange(`${basePath}${request.path}`, request);
    // The program may have moved, as it does with an upgrade; this answer stands, the next call looks again.
    if (basePaths.length > 1 && isElsewhere(answer)) found = undefined;
    const { statusCode: status, body } = answer;
    const beginning = await failing(request, readBeginning(body, wholeBytes));
    return { status, headers: relayable(answer.headers), body: masked(beginning) };
  }

  /** A read settles it: a write must not be tried under two paths. */
  async function findBasePath(signal: AbortSignal): Promise<string> {
    const probe: RelayRequest = { method: 'GET', path: anyRead, signal };
    for (const basePath of basePaths) {
      const answer = await exchange(`${basePath}${anyRead}`, probe);
      await failing(probe, answer.body.dump());
      if (isElsewhere(answer)) continue;
      found = basePath;
      return basePath;
    }
    const because = `${url.host} answers, but has no management API under ${basePaths.join(' or ')}`;
    throw new ApplianceError('not_found', { endpoint: anyRead, message: because });
  }

  async function exchange(path: string, request: RelayRequest): Promise<Dispatcher.ResponseData> {
    const { method, body, contentType, contentLength, signal } = request;
    const headers = {
      accept: '*/*',
      // A key in a compressed body could not be found and overwritten.
      'accept-encoding': 'identity',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(contentLength === undefined ? {} : { 'content-length': String(contentLength) }),
      ...key,
    };
    return await failing(
      request,
      connection.request({ method, path, headers, signal, ...(body === undefined ? {} : { body }) }),
    );
  }

  /** What comes of a step; its failure has a reason. */
  async function failing<Result>({ path, signal }: RelayRequest, step: Promise<Result>): Promise<Result> {
    try {
      return await step;
    } catch (error) {
      const by = abortedBy(signal);
      // A caller that left says nothing about the connection.
      if (by !== 'caller') connection.reset();
      const reason = reasonOfTransportError(error, by);
      const because = oneLine(scrubbed(messageOf(error)), 250);
      const what = reason === 'timeout' ? `no answer within ${timeoutMs / 1_000} s` : because;
      throw new ApplianceError(reason, { endpoint: path, message: what });
    }
  }

  function masked(body: Buffer | Readable): Buffer | Readable {
    if (Buffer.isBuffer(body)) return keys.reduce(maskWhole, body);
    const masks = keys.flatMap((secret) => maskStream(secret) ?? []);
    // A failure destroys both ends, which whoever reads the body sees.
    return masks.reduce((source: Readable, mask) => pipeline(source, mask, () => undefined), body);
  }

  function scrubbed(text: string): string {
    return keys.reduce((clean, secret) => secret.scrub(clean), text);
  }

  function relayable(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
    const kept = relayedHeaders.map((name) => [name, scrubbed(headerOf(headers, name))] as const);
    const present = kept.filter(([, value]) => value !== '');
    // Node reads bytes above ASCII in one way and writes them in another, which can make a line break of them.
    return Object.fromEntries(present.map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, '_')]));
  }
}

function isElsewhere({ statusCode: status, headers }: Dispatcher.ResponseData): boolean {
  return isForeign404({ status, mediaType: mediaTypeOf(headerOf(headers, 'content-type')) });
}
