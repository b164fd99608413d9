import { pipeline, Readable, Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { PartCount, TooManyPartsError } from '../lib/counted-request.ts';
import { GrowingBuffer } from '../lib/growing-buffer.ts';
import type { Secret } from '../lib/secret.ts';
import { headerOf, mediaTypeOf } from './response.ts';
import { BasePaths } from './base-paths.ts';
import { CallDeadline } from './call-deadline.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { abortedBy, ApplianceError, messageOf, neverConnected, reasonOfTransportError } from './errors.ts';
import type { Method } from './api/row.ts';
import { keyHeaders, type KeyOptions, keysToHide, maskStream, maskWhole, presentable, scrub } from './api-key.ts';

export interface RelayRequest {
  readonly method: Method;
  /** Below the base URL, encoded. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: Buffer | Readable;
  /** Needed with a stream: the appliance refuses a body of unknown length. */
  readonly contentLength?: number;
  readonly signal: AbortSignal;
  /**
   * Called right before the first byte of the request leaves. If it throws, nothing is sent, and
   * the call rejects with what it threw.
   */
  readonly beforeSending?: () => void;
}

export interface RelayResponse {
  readonly status: number;
  /** The headers that describe the body; others are dropped. */
  readonly headers: Readonly<Record<string, string>>;
  /** A buffer if it is short. */
  readonly body: Buffer | Readable;
}

/**
 * Forwards requests without reading them, and never sends one twice. Rejects with an
 * {@link ApplianceError}.
 */
export interface Relay {
  send(request: RelayRequest): Promise<RelayResponse>;
  urlOf(path: string): string;
  /** Lets requests under way end, and accepts no new ones. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface RelayOptions extends Omit<ConnectionOptions, 'keepAliveMs'>, KeyOptions {
  /** Shared by all connections to an appliance, so that one alone searches. */
  readonly basePaths?: BasePaths | undefined;
}

/**
 * Short: a request on a connection that the appliance just closed would fail, and is not retried.
 */
const keepAliveMs = 2_000;
/** A cheap read that every role and release allows; sent once to find the base path of the API. */
const probePath = '/system/version';
/** Nearly all answers are shorter; longer ones are downloads and lists of sessions. */
export const maxBufferedBytes = 65_536;
const relayedHeaders = ['content-type', 'content-length', 'content-disposition', 'content-encoding'] as const;

/**
 * Sends a request with a signal that also aborts `timeoutMs` after its body was sent. For an upload
 * the time starts when the file has ended; a streamed answer keeps the connection to the caller's
 * signal.
 */
async function withDeadline(
  request: RelayRequest,
  timeoutMs: number,
  send: (request: RelayRequest) => Promise<RelayResponse>,
): Promise<RelayResponse> {
  const deadline = new CallDeadline(request.signal);
  const startTimer = (): void => deadline.startTimer(timeoutMs);
  const file = request.body instanceof Readable ? request.body : undefined;
  if (file) file.once('end', startTimer);
  else startTimer();
  try {
    const response = await send({ ...request, signal: deadline.signal });
    if (Buffer.isBuffer(response.body)) deadline.release();
    else response.body.once('close', () => deadline.release());
    return response;
  } catch (error) {
    deadline.release();
    throw error;
  } finally {
    file?.off('end', startTimer);
    deadline.stopTimer();
  }
}

/** Creates a relay; opens no connection until the first request. */
export function createRelay(options: RelayOptions): Relay {
  const { url, timeoutMs, basePaths = new BasePaths() } = options;
  const keys = keysToHide(options);
  const connection = createConnection({ ...options, keepAliveMs });
  const key = keyHeaders(options);

  return {
    send: (request) => withDeadline(request, timeoutMs, sendWithin),
    urlOf: (path) => `${url.origin}${basePaths.candidates(url)[0]}${path}`,
    retire: () => connection.retire(),
    close: () => connection.close(),
  };

  async function sendWithin(request: RelayRequest): Promise<RelayResponse> {
    const basePath = basePaths.known(url) ?? (await findBasePath(request.signal));
    const response = await exchange(`${basePath}${request.path}`, request);
    // An upgrade may have moved the API. This response stands; the next call searches again.
    hasApi(basePath, response);
    const beginning = await withApplianceError(request, readBeginning(response.body, maxBufferedBytes));
    const body = Buffer.isBuffer(beginning) ? beginning : countBytes(beginning, request.path);
    return { status: response.statusCode, headers: pickHeaders(response.headers, keys), body: maskKeys(body, keys) };
  }

  /** Finds the base path with a read: a write must not be tried under two paths. */
  async function findBasePath(signal: AbortSignal): Promise<string> {
    const probe: RelayRequest = { method: 'GET', path: probePath, signal };
    const candidates = basePaths.candidates(url);
    for (const basePath of candidates) {
      const response = await exchange(`${basePath}${probePath}`, probe);
      await withApplianceError(probe, response.body.dump());
      if (hasApi(basePath, response)) return basePath;
    }
    const because = `${url.host} answers, but has no management API under ${candidates.join(' or ')}`;
    throw new ApplianceError('not_found', { endpoint: probePath, message: because });
  }

  function hasApi(basePath: string, { statusCode: status, headers }: Dispatcher.ResponseData): boolean {
    return basePaths.judge(url, basePath, { status, mediaType: mediaTypeOf(headerOf(headers, 'content-type')) });
  }

  async function exchange(path: string, request: RelayRequest): Promise<Dispatcher.ResponseData> {
    const { method, body, contentType, contentLength, signal, beforeSending } = request;
    const asking = rememberRefusal(beforeSending);
    const headers = {
      accept: '*/*',
      // A key in a compressed body could not be found and overwritten.
      'accept-encoding': 'identity',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(contentLength === undefined ? {} : { 'content-length': String(contentLength) }),
      ...key,
    };
    const sending = connection.request({
      method,
      path,
      headers,
      signal,
      onSending: asking.onSending,
      ...(body === undefined ? {} : { body }),
    });
    return await withApplianceError(request, sending).catch((error: unknown) => {
      throw asking.refusal ?? error;
    });
  }

  /** Resolves or rejects like a step, but with an {@link ApplianceError}. */
  async function withApplianceError<Value>({ path, signal }: RelayRequest, step: Promise<Value>): Promise<Value> {
    try {
      return await step;
    } catch (error) {
      const by = abortedBy(signal);
      // After a caller left, the connection may still be good.
      if (by !== 'caller') connection.reset();
      const reason = reasonOfTransportError(error, by);
      const isLate = reason === 'timeout' && !neverConnected(error);
      const message = isLate ? `no answer within ${timeoutMs / 1_000} s` : presentable(messageOf(error), keys);
      throw new ApplianceError(reason, { endpoint: path, message });
    }
  }
}

/** Remembers what the hook throws, which is not a failure of the connection. */
function rememberRefusal(beforeSending: RelayRequest['beforeSending']) {
  const asking = {
    refusal: undefined as unknown,
    onSending: (): void => {
      try {
        beforeSending?.();
      } catch (error) {
        asking.refusal = error;
        throw error;
      }
    },
  };
  return asking;
}

/** Fails a body that comes in too many short parts: a limit in bytes does not bound their cost. */
function countBytes(body: Readable, endpoint: string): Readable {
  const count = new PartCount();
  const counting = new Transform({
    transform(part: Buffer, _encoding, done) {
      // A short part would keep all that came with it in memory.
      if (count.add(part)) done(null, 2 * part.length < part.buffer.byteLength ? Buffer.from(part) : part);
      else done(new ApplianceError('malformed', { endpoint, message: new TooManyPartsError().message }));
    },
  });
  return pipeline(body, counting, () => undefined);
}

function maskKeys(body: Buffer | Readable, keys: readonly Secret[]): Buffer | Readable {
  if (Buffer.isBuffer(body)) return keys.reduce(maskWhole, body);
  const masks = keys.flatMap((secret) => maskStream(secret) ?? []);
  // A failure destroys both streams, so the reader of the body sees it.
  return masks.reduce((source: Readable, mask) => pipeline(source, mask, () => undefined), body);
}

function pickHeaders(headers: Dispatcher.ResponseData['headers'], keys: readonly Secret[]): Record<string, string> {
  const kept = relayedHeaders.map((name) => [name, scrub(headerOf(headers, name), keys)] as const);
  const present = kept.filter(([, value]) => value !== '');
  // Node decodes and encodes bytes above ASCII differently, which could produce a line break.
  return Object.fromEntries(present.map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, '_')]));
}

/**
 * Resolves to the whole body if it has at most `wholeBytes`; otherwise to a stream that still has
 * all of it. A buffer costs a fraction of a stream. Rejects if the body fails before that is
 * decided.
 */
async function readBeginning(body: Readable, wholeBytes: number): Promise<Buffer | Readable> {
  const beginning = new GrowingBuffer(wholeBytes);
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    if (beginning.add(chunk as Buffer)) continue;
    body.unshift(Buffer.concat([beginning.bytes, chunk as Buffer]));
    return body;
  }
  return beginning.bytes;
}
