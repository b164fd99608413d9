import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createSlice } from '../lib/slice.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { gzipMember } from '../metrics/gzip.ts';
import type { Page, Representation } from '../metrics/page.ts';
import { type Piece, toPiece } from '../metrics/piece.ts';
import { largestNetwork } from './network-limit.ts';
import { contentTypes } from './negotiate.ts';
import { createThrottledLog } from './throttled-log.ts';

export interface PageParts {
  readonly form: Representation;
  readonly page: Page;
  /** What follows the page. */
  readonly end: readonly Piece[];
}

/** Sends pages to as many readers at a time as there can be with good reason; slow ones cost a socket and a block each. */
export type SendPage = (request: FastifyRequest, reply: FastifyReply, parts: PageParts) => void;

export interface SendPageLimits {
  /** Answers under way at a time. */
  readonly mostUnfinished: number;
  /** Past this an answer makes room for the next one: Prometheus has given up on it by then. */
  readonly patienceMs: number;
  /** Past this it is cut in any case. */
  readonly longestMs: number;
}

export const usualLimits: SendPageLimits = { mostUnfinished: 16, patienceMs: 10_000, longestMs: 30_000 };

export function createSendPage(log: Logger, { mostUnfinished, patienceMs, longestMs }: SendPageLimits): SendPage {
  const throttledLog = createThrottledLog({ log, now: steadyNow });
  /** Oldest first, with the time of the start. */
  const unfinished = new Map<ServerResponse, number>();

  /** False when all places are taken by readers that may still be reading, and that have not more of them than others. */
  function makeRoomFor(request: FastifyRequest): boolean {
    const [oldest] = unfinished;
    if (!oldest || unfinished.size < mostUnfinished) return true;
    const [response, startedAtMs] = oldest;
    const crowd = largestNetwork({
      all: unfinished.keys(),
      addressOf: ({ socket }) => socket?.remoteAddress,
      newcomer: request.ip,
    });
    const isPatienceOver = steadyNow() - startedAtMs >= patienceMs;
    const superfluous = isPatienceOver ? response : crowd.mayEvict ? crowd.members[0] : undefined;
    if (superfluous) cut(superfluous);
    return superfluous !== undefined;
  }

  function cut(response: ServerResponse): void {
    const address = response.socket?.remoteAddress;
    throttledLog.write('warn', { address }, 'a reader that is too slow for its page was cut off');
    unfinished.delete(response);
    response.destroy();
  }

  function track(response: ServerResponse): void {
    const timer = setTimeout(cut, longestMs, response);
    unfinished.set(response, steadyNow());
    response.on('close', () => {
      clearTimeout(timer);
      unfinished.delete(response);
      if (!response.writableFinished) log.debug('a page was not read to its end');
    });
  }

  return (request, reply, parts) => {
    const response = reply.raw;
    if (response.closed) {
      // Its reader left while the page was made, and takes no place.
      reply.hijack();
      return;
    }
    if (!makeRoomFor(request)) {
      throttledLog.write('warn', { address: request.ip }, 'too many readers at a time, a scrape was refused');
      const sentence = `${mostUnfinished} pages are being sent and not read. Scrape less often, or find out who does not read.\n`;
      void reply.code(503).header('retry-after', '5').type('text/plain; charset=utf-8').send(sentence);
      return;
    }
    const { format, compressed } = parts.form;
    const { length, contents } = compressed ? compressedBody(parts) : plainBody(parts);
    reply.hijack();
    track(response);
    response.writeHead(200, {
      'content-type': contentTypes[format],
      'content-length': length,
      ...(compressed ? { 'content-encoding': 'gzip' } : {}),
      vary: 'accept, accept-encoding',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') response.end();
    else if (length <= smallBytes) sendAtOnce(response, contents());
    else sendInPortions(response, contents());
  };
}

interface Body {
  readonly length: number;
  /** In order; asked for when the body is really sent. */
  readonly contents: () => readonly Buffer[];
}

const endOfOpenMetrics = toPiece('# EOF\n');

function tailOf({ form, end }: PageParts): readonly Piece[] {
  return form.format === 'openmetrics' ? [...end, endOfOpenMetrics] : end;
}

function plainBody(parts: PageParts): Body {
  const tail = tailOf(parts).map(({ text }) => text);
  return {
    length: parts.page.size + tail.reduce((sum, { length }) => sum + length, 0),
    contents: () => [...parts.page.texts, ...tail],
  };
}

function compressedBody(parts: PageParts): Body {
  const buffers = gzipMember([...parts.page.packed, ...tailOf(parts).map(({ packed }) => packed)]);
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), contents: () => buffers };
}

/** What is sent at once, rather than portion by portion. */
const smallBytes = 262_144;
/** More than these are copied together: to hand over each costs more. */
const fewContents = 16;
/** A socket is given so much at a time; a slow reader costs no more than that. */
const portionBytes = 1_048_576;
/** Past this other work has its turn, however fast the reader is. */
const sliceMs = 5;

function sendAtOnce(response: ServerResponse, contents: readonly Buffer[]): void {
  response.cork();
  for (const content of contents.length > fewContents ? [Buffer.concat(contents)] : contents) response.write(content);
  response.end();
}

/** Portion by portion, each once the socket has taken the one before. */
function sendInPortions(response: ServerResponse, contents: readonly Buffer[]): void {
  const portions = inPortions(contents);
  const slice = createSlice(sliceMs);
  const sendNext = (): void => {
    if (response.destroyed) return;
    const { value: portion } = portions.next();
    const last = portion?.pop();
    if (!portion || !last) {
      response.end();
      return;
    }
    for (const content of portion) response.write(content);
    response.write(last, goOn);
  };
  const goOn = (): void => {
    if (slice.isOver) void slice.next().then(sendNext);
    else sendNext();
  };
  sendNext();
}

/** The contents as they are; long ones are divided. */
function* inPortions(contents: readonly Buffer[]): Generator<Buffer[], undefined> {
  let portion: Buffer[] = [];
  let missing = portionBytes;
  for (const content of contents) {
    for (let start = 0; start < content.length; ) {
      const isWhole = start === 0 && content.length <= missing;
      const part = isWhole ? content : content.subarray(start, start + missing);
      portion.push(part);
      start += part.length;
      missing -= part.length;
      if (missing > 0) continue;
      yield portion;
      portion = [];
      missing = portionBytes;
    }
  }
  if (portion.length > 0) yield portion;
}
