import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { steadyNow } from '../lib/time.ts';
import { largestShare } from '../lib/shares.ts';
import { networkOf } from './connections.ts';
import { ThrottledLog } from '../lib/throttled-log.ts';

/**
 * Limits how many responses of a listener are being sent, on all its paths together. A slow reader
 * costs a socket and a portion, and is cut off.
 */
export interface UnfinishedResponses {
  /** Throws a {@link TooManyReadersError} if nothing may be sent now; call it before long work. */
  assertRoom(request: FastifyRequest): void;
  /** Sends a long response. Throws a {@link TooManyReadersError}. */
  send(request: FastifyRequest, reply: FastifyReply, response: LongResponse): FastifyReply;
}

export interface LongResponse {
  /** The response in the order of its buffers, which other responses may share. */
  readonly contents: readonly Buffer[];
  readonly isZstd?: boolean;
}

export interface ResponseLimits {
  /** Maximum of responses under way; targets of a large fleet may be scraped in one moment. */
  readonly maxUnfinished: number;
  /**
   * Maximum size of all responses under way: an unread response stays in memory together with newer
   * ones.
   */
  readonly maxUnfinishedBytes: number;
  /** After this time a response may be cut for a new one: Prometheus has given up by then. */
  readonly evictableAfterMs: number;
  readonly maxDurationMs: number;
}

export const defaultLimits: ResponseLimits = {
  maxUnfinished: 256,
  maxUnfinishedBytes: 268_435_456,
  evictableAfterMs: 10_000,
  maxDurationMs: 30_000,
};

/** Thrown instead of sending a response while clients do not read those that are being sent. */
export class TooManyReadersError extends Error {
  override readonly name = 'TooManyReadersError';
}

/** Shorter responses fit into the buffers of their socket, and are neither counted nor refused. */
export const countedBytes = 65_536;
/** Shorter responses are sent at once. */
const smallBytes = 262_144;
/**
 * Bytes per write: otherwise TLS would encrypt the whole response for a reader that does not read.
 */
const portionBytes = 262_144;
/** Memory that a compression holds besides the response. */
const zstdBytes = 2_097_152;

/** Limits the responses of all routes that the app gets afterwards. */
export function limitUnfinished(app: FastifyInstance, log: Logger, limits = defaultLimits): UnfinishedResponses {
  const limiter = createResponseLimiter(log, limits);
  // A stream comes from `send`, or is a long response of the gateway, which has limits of its own.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload);
    const bytes = Buffer.byteLength(payload);
    if (request.method === 'HEAD' || bytes <= countedBytes || limiter.has(reply.raw)) return done(null, payload);
    try {
      limiter.reserve(request, reply, bytes);
    } catch (error) {
      return done(error as Error);
    }
    if (bytes <= smallBytes) return done(null, payload);
    reply.header('content-length', bytes);
    done(null, streamOf([Buffer.from(payload as string)]));
  });
  return {
    assertRoom: (request) => limiter.assertRoom(request),
    send(request, reply, { contents, isZstd = false }) {
      // The reader left while the response was made.
      if (reply.raw.closed) return reply.hijack();
      const bytes = lengthOf(contents);
      const isHead = request.method === 'HEAD';
      if (!isHead && bytes > countedBytes) limiter.reserve(request, reply, bytes + (isZstd ? zstdBytes : 0));
      if (isZstd) return reply.send(isHead ? Readable.from([]) : compressed(contents));
      reply.header('content-length', bytes);
      if (isHead) return reply.send(Readable.from([]));
      return reply.send(bytes <= smallBytes ? Buffer.concat(contents) : streamOf(contents));
    },
  };
}

interface Unfinished {
  readonly startedAtSteadyMs: number;
  readonly bytes: number;
  readonly readers: string;
}

/**
 * Returns the key of the readers that share a limit: one path in one network. Behind a proxy, all
 * clients have one address; readers of the status must not keep Prometheus out.
 */
function readerKey({ ip, routeOptions }: FastifyRequest): string {
  return `${networkOf(ip)} ${routeOptions.url}`;
}

function createResponseLimiter(
  log: Logger,
  { maxUnfinished, maxUnfinishedBytes, evictableAfterMs, maxDurationMs }: ResponseLimits,
) {
  const throttledLog = new ThrottledLog(log);
  /** Oldest first. */
  const unfinished = new Map<ServerResponse, Unfinished>();
  let heldBytes = 0;

  /** Returns a response to cut for a request: an old one, or one of readers beyond their share. */
  function evictableFor(request: FastifyRequest): ServerResponse | undefined {
    const [oldest] = unfinished;
    if (oldest && steadyNow() - oldest[1].startedAtSteadyMs >= evictableAfterMs) return oldest[0];
    const { members, mayEvict } = largestShare(unfinished, ([, { readers }]) => readers, readerKey(request));
    return mayEvict ? members[0]?.[0] : undefined;
  }

  function remove(response: ServerResponse): void {
    heldBytes -= unfinished.get(response)?.bytes ?? 0;
    unfinished.delete(response);
  }

  function cut(response: ServerResponse): void {
    const address = response.socket?.remoteAddress;
    throttledLog.write('warn', { address }, 'a reader that is too slow for its page was cut off');
    remove(response);
    response.destroy();
  }

  function refuse({ ip: address }: FastifyRequest): never {
    throttledLog.write('warn', { address }, 'too many readers at a time, an answer was refused');
    throw new TooManyReadersError(
      `${unfinished.size} pages are being sent and not read. Scrape less often, or find out who does not read.\n`,
    );
  }

  return {
    has: (response: ServerResponse) => unfinished.has(response),
    assertRoom(request: FastifyRequest): void {
      if (unfinished.size >= maxUnfinished && !evictableFor(request)) refuse(request);
    },
    /** Counts a response until it has been sent. Throws a {@link TooManyReadersError}. */
    reserve(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
      const { raw: response } = reply;
      // A single response may be longer than the limit.
      if (unfinished.size > 0 && (unfinished.size >= maxUnfinished || heldBytes + bytes > maxUnfinishedBytes)) {
        const superfluous = evictableFor(request);
        if (superfluous) cut(superfluous);
        else {
          // The refusal is another text.
          for (const name of ['content-encoding', 'etag']) reply.removeHeader(name);
          refuse(request);
        }
      }
      const timer = setTimeout(cut, maxDurationMs, response);
      unfinished.set(response, { startedAtSteadyMs: steadyNow(), bytes, readers: readerKey(request) });
      heldBytes += bytes;
      response.on('close', () => {
        clearTimeout(timer);
        remove(response);
        if (!response.writableFinished) log.debug('a page was not read to its end');
      });
    },
  };
}

function streamOf(contents: readonly Buffer[]): Readable {
  return Readable.from(inPortions(contents), { objectMode: false, highWaterMark: portionBytes });
}

/**
 * Compresses outside the event loop while it is sent: few clients ask for it, and some decoders
 * accept only one frame.
 */
function compressed(contents: readonly Buffer[]): Readable {
  return pipeline(streamOf(contents), createZstdCompress({ params: fastestZstd }), () => undefined);
}

const fastestZstd = { [constants.ZSTD_c_compressionLevel]: 1 };

function* inPortions(contents: readonly Buffer[]): Generator<Buffer> {
  for (const content of contents)
    for (let start = 0; start < content.length; start += portionBytes)
      yield content.subarray(start, start + portionBytes);
}

function lengthOf(contents: readonly Buffer[]): number {
  return contents.reduce((sum, { length }) => sum + length, 0);
}
