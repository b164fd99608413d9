import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { steadyNow } from '../lib/steady-now.ts';
import type { Encoding, Representation } from '../metrics/page.ts';
import { largestNetwork } from './network-limit.ts';
import { contentTypes } from './negotiate.ts';
import { createThrottledLog } from './throttled-log.ts';

export interface PageParts {
  readonly form: Representation;
  /** The finished page, in the order of its buffers. */
  readonly contents: readonly Buffer[];
}

/** Sends pages to a limited number of readers at a time. A slow reader costs a socket and a portion, and is cut off. */
export type SendPage = (request: FastifyRequest, reply: FastifyReply, parts: PageParts) => FastifyReply;

export interface SendPageLimits {
  /** Answers under way at a time. */
  readonly maxUnfinished: number;
  /** Bytes of all answers under way: a page that is not read stays in memory beside newer ones. */
  readonly maxUnfinishedBytes: number;
  /** Past this an answer makes room for the next one: Prometheus has given up on it by then. */
  readonly patienceMs: number;
  /** Past this it is cut in any case. */
  readonly maxMs: number;
}

export const usualLimits: SendPageLimits = {
  maxUnfinished: 16,
  maxUnfinishedBytes: 268_435_456,
  patienceMs: 10_000,
  maxMs: 30_000,
};

export function createSendPage(log: Logger, limits: SendPageLimits): SendPage {
  const { maxUnfinished, maxUnfinishedBytes, patienceMs, maxMs } = limits;
  const throttledLog = createThrottledLog({ log, now: steadyNow });
  /** Oldest first. */
  const unfinished = new Map<ServerResponse, { readonly startedAtMs: number; readonly bytes: number }>();

  /** False when all places are taken by readers that may still be reading, and that have not more of them than others. */
  function makeRoomFor(request: FastifyRequest, bytes: number): boolean {
    const [oldest] = unfinished;
    const heldBytes = [...unfinished.values()].reduce((sum, each) => sum + each.bytes, 0);
    const isRoom = unfinished.size < maxUnfinished && heldBytes + bytes <= maxUnfinishedBytes;
    if (!oldest || isRoom) return true;
    const [response, { startedAtMs }] = oldest;
    const network = largestNetwork({
      all: unfinished.keys(),
      addressOf: ({ socket }) => socket?.remoteAddress,
      newcomer: request.ip,
    });
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
    // Its reader left while the page was made, and takes no place.
    if (response.closed) return reply.hijack();
    if (!makeRoomFor(request, bytes)) {
      throttledLog.write('warn', { address: request.ip }, 'too many readers at a time, a scrape was refused');
      const sentence = `${unfinished.size} pages are being sent and not read. Scrape less often, or find out who does not read.\n`;
      return reply.code(503).header('retry-after', '5').type('text/plain; charset=utf-8').send(sentence);
    }
    track(response, bytes);
    const { format, encoding } = form;
    reply.headers({
      'content-type': contentTypes[format],
      vary: 'accept, accept-encoding',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    if (encoding !== 'zstd') reply.header('content-length', bytes);
    return reply.send(request.method === 'HEAD' ? Readable.from([]) : toPayload(contents, encoding));
  };
}

/** Below this a page is sent at once. */
const smallBytes = 262_144;
/** A socket is given so much at a time: TLS would otherwise encrypt all of it for a reader that does not read. */
const portionBytes = 262_144;

function toPayload(contents: readonly Buffer[], encoding: Encoding): Buffer | Readable {
  if (encoding !== 'zstd' && lengthOf(contents) <= smallBytes) return Buffer.concat(contents);
  const portions = Readable.from(inPortions(contents), { objectMode: false, highWaterMark: portionBytes });
  if (encoding !== 'zstd') return portions;
  // While it is sent, outside of the event loop: few clients ask for it, and some decoders read one frame alone.
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
