import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { steadyNow } from '../lib/time.ts';
import type { Encoding, Format, Representation } from '../metrics/page.ts';
import { largestNetwork } from './connections.ts';
import { ThrottledLog } from './throttled-log.ts';
import { plainText } from './web-access.ts';
import { parseAccept, weightOf, weightOfCoding } from '../lib/accept.ts';

export interface PageParts {
  readonly form: Representation;
  /** The finished exposition, in the order of its buffers. */
  readonly contents: readonly Buffer[];
}

/**
 * Sends expositions to a limited number of readers at a time. A slow reader costs a socket and a
 * portion, and is cut off.
 */
export type SendPage = (request: FastifyRequest, reply: FastifyReply, parts: PageParts) => FastifyReply;

export interface SendPageLimits {
  /** Maximum of answers under way; targets of a large fleet may be scraped in one moment. */
  readonly maxUnfinished: number;
  /**
   * Maximum size of all answers under way: an unread exposition stays in memory together with newer
   * ones.
   */
  readonly maxUnfinishedBytes: number;
  /** After this time an answer may be cut for a new one: Prometheus has given up by then. */
  readonly patienceMs: number;
  /** After this time an answer is cut. */
  readonly maxMs: number;
}

export const defaultLimits: SendPageLimits = {
  maxUnfinished: 256,
  maxUnfinishedBytes: 268_435_456,
  patienceMs: 10_000,
  maxMs: 30_000,
};

export function createSendPage(log: Logger, limits: SendPageLimits): SendPage {
  const { maxUnfinished, maxUnfinishedBytes, patienceMs, maxMs } = limits;
  const throttledLog = new ThrottledLog(log);
  /** Oldest first. */
  const unfinished = new Map<ServerResponse, { readonly startedAtMs: number; readonly bytes: number }>();

  /**
   * Cuts an answer at the limits; returns false if none is too old and no network holds more than
   * its share.
   */
  function makeRoomFor(request: FastifyRequest, bytes: number): boolean {
    const [oldest] = unfinished;
    const heldBytes = [...unfinished.values()].reduce((sum, each) => sum + each.bytes, 0);
    const isRoom = unfinished.size < maxUnfinished && heldBytes + bytes <= maxUnfinishedBytes;
    if (!oldest || isRoom) return true;
    const [response, { startedAtMs }] = oldest;
    const network = largestNetwork(unfinished.keys(), request.ip);
    const isPatienceOver = steadyNow() - startedAtMs >= patienceMs;
    const superfluous = isPatienceOver ? response : network.mayEvict ? network.members[0] : undefined;
    if (superfluous) cut(superfluous);
    return superfluous !== undefined;
  }

  function cut(response: ServerResponse): void {
    const address = response.socket?.remoteAddress;
    throttledLog.write('warn', { address }, 'a reader that is too slow for its page was cut off');
    unfinished.delete(response);
    response.destroy();
  }

  function track(response: ServerResponse, bytes: number): void {
    const timer = setTimeout(cut, maxMs, response);
    unfinished.set(response, { startedAtMs: steadyNow(), bytes });
    response.on('close', () => {
      clearTimeout(timer);
      unfinished.delete(response);
      if (!response.writableFinished) log.debug('a page was not read to its end');
    });
  }

  return (request, reply, { form, contents }) => {
    const response = reply.raw;
    const bytes = lengthOf(contents);
    // The reader left while the exposition was rendered.
    if (response.closed) return reply.hijack();
    if (!makeRoomFor(request, bytes)) {
      throttledLog.write('warn', { address: request.ip }, 'too many readers at a time, a scrape was refused');
      const sentence = `${unfinished.size} pages are being sent and not read. Scrape less often, or find out who does not read.\n`;
      return reply.code(503).header('retry-after', '5').type(plainText).send(sentence);
    }
    track(response, bytes);
    const { format, encoding } = form;
    reply.headers({
      'content-type': expositionTypes[format],
      vary: 'accept, accept-encoding',
    });
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    if (encoding !== 'zstd') reply.header('content-length', bytes);
    return reply.send(request.method === 'HEAD' ? Readable.from([]) : toPayload(contents, encoding));
  };
}

/** Smaller expositions are sent at once. */
const smallBytes = 262_144;
/**
 * Bytes per write: otherwise TLS would encrypt the whole exposition for a reader that does not
 * read.
 */
const portionBytes = 262_144;

function toPayload(contents: readonly Buffer[], encoding: Encoding): Buffer | Readable {
  if (encoding !== 'zstd' && lengthOf(contents) <= smallBytes) return Buffer.concat(contents);
  const portions = Readable.from(inPortions(contents), { objectMode: false, highWaterMark: portionBytes });
  if (encoding !== 'zstd') return portions;
  // Compressed outside the event loop while it is sent: few clients ask for it, and some decoders
  // accept only one frame.
  return pipeline(portions, createZstdCompress({ params: fastestZstd }), () => undefined);
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

const expositionTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Returns the form that the headers of a request ask for. */
export function negotiate({ accept, 'accept-encoding': acceptEncoding }: IncomingHttpHeaders): Representation {
  return { format: negotiateFormat(accept), encoding: negotiateEncoding(acceptEncoding) };
}

/**
 * OpenMetrics 1.0 where the Accept header prefers it, else Prometheus text, which everybody reads.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const ranges = parseAccept(accept);
  const openmetrics = weightOf(
    ranges,
    ({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'),
  );
  const text = weightOf(
    ranges,
    ({ type, version }) => type === 'text/plain' && (version === undefined || version === '0.0.4'),
  );
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/**
 * Returns zstd for clients that name it and weigh nothing higher, else gzip for those that name
 * that.
 */
export function negotiateEncoding(acceptEncoding: string | undefined): Encoding {
  const gzip = weightOfCoding(acceptEncoding, 'gzip');
  const zstd = weightOfCoding(acceptEncoding, 'zstd');
  if (zstd > 0 && zstd >= gzip) return 'zstd';
  return gzip > 0 ? 'gzip' : 'identity';
}
