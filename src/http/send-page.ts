import type { ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { steadyNow } from '../lib/steady-now.ts';
import { gzipMember } from '../metrics/gzip.ts';
import type { Format, Page } from '../metrics/page.ts';
import { type Piece, toPiece } from '../metrics/piece.ts';
import { acceptsGzip, contentTypes } from './negotiate.ts';
import { createRefusalLog } from './refusal-log.ts';

export interface PageParts {
  readonly format: Format;
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

/** An answer under way. */
interface Answer {
  readonly response: ServerResponse;
  /** The address that it goes to. */
  readonly reader: string;
  readonly startedAtMs: number;
}

export function createSendPage(log: Logger, { mostUnfinished, patienceMs, longestMs }: SendPageLimits): SendPage {
  const refusals = createRefusalLog({ log, message: 'a page was not sent', now: steadyNow });
  /** Oldest first. */
  const unfinished = new Set<Answer>();

  /** False when all places are taken by readers that may still be reading. */
  function makeRoom(reader: string): boolean {
    if (unfinished.size < mostUnfinished) return true;
    const answer = superfluous(reader);
    if (answer) cut(answer);
    return answer !== undefined;
  }

  /**
   * Which answer makes room for another one: the oldest of an address that has many, else the oldest that has lasted too
   * long. Nobody pushes out who has fewer, or who asks for enough pages at a time would keep Prometheus from all.
   */
  function superfluous(reader: string): Answer | undefined {
    const byReader = Map.groupBy(unfinished, (answer) => answer.reader);
    const own = byReader.get(reader)?.length ?? 0;
    const crowd = [...byReader.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
    if (crowd.length > own + 1) return crowd[0];
    const oldest = [...unfinished].find((answer) => (byReader.get(answer.reader)?.length ?? 0) >= own);
    return oldest && steadyNow() - oldest.startedAtMs >= patienceMs ? oldest : undefined;
  }

  function cut(answer: Answer): void {
    refusals.refused('a reader that is too slow for its page was cut off', answer.reader);
    unfinished.delete(answer);
    answer.response.destroy();
  }

  function track(response: ServerResponse, reader: string): void {
    const answer = { response, reader, startedAtMs: steadyNow() };
    const timer = setTimeout(cut, longestMs, answer);
    unfinished.add(answer);
    finished(response, () => {
      clearTimeout(timer);
      unfinished.delete(answer);
    });
  }

  return (request, reply, parts) => {
    const reader = request.socket.remoteAddress ?? '';
    if (!makeRoom(reader)) {
      refusals.refused(`${mostUnfinished} pages are being sent and not read, a scrape was refused`, reader);
      const sentence = `${mostUnfinished} pages are being sent and not read. Scrape less often, or find out who does not read.\n`;
      void reply.code(503).header('retry-after', '5').type('text/plain; charset=utf-8').send(sentence);
      return;
    }
    const { format } = parts;
    const compressed = acceptsGzip(request.headers['accept-encoding']);
    const { length, contents } = compressed ? compressedBody(parts) : plainBody(parts);
    const response = reply.raw;
    reply.hijack();
    track(response, reader);
    response.writeHead(200, {
      'content-type': contentTypes[format],
      'content-length': length,
      ...(compressed ? { 'content-encoding': 'gzip' } : {}),
      vary: 'accept, accept-encoding',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') response.end();
    else if (length <= blockBytes) response.end(Buffer.concat(contents(), length));
    else
      pipeline(compressed ? inStretches(contents()) : inBlocks(contents()), response, (error) => {
        if (error) log.debug({ because: error.message }, 'a page was not read to its end');
      });
  };
}

interface Body {
  readonly length: number;
  /** In order; asked for when the body is really sent. */
  readonly contents: () => readonly Buffer[];
}

const endOfOpenMetrics = toPiece('# EOF\n');

function tailOf({ format, end }: PageParts): readonly Piece[] {
  return format === 'openmetrics' ? [...end, endOfOpenMetrics] : end;
}

function plainBody(parts: PageParts): Body {
  const tail = tailOf(parts).map(({ text }) => text);
  return {
    length: parts.page.size + tail.reduce((sum, { length }) => sum + length, 0),
    contents: () => [...parts.page.texts, ...tail],
  };
}

function compressedBody(parts: PageParts): Body {
  const buffers = gzipMember([parts.page.packed, ...tailOf(parts).map(({ packed }) => packed)]);
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), contents: () => buffers };
}

/** More than a socket takes without saying that it is full, or a block would be filled anew before it is sent. */
const blockBytes = 262_144;
/** Other work has its turn after so many blocks, however fast the reader is. */
const blocksATurn = 4;

/** Encrypting or sending so much at once is no long work yet. */
const stretchBytes = 1_048_576;

/** The contents as they are, long ones in stretches. */
function* inStretches(contents: readonly Buffer[]): Generator<Buffer> {
  for (const content of contents) {
    for (let start = 0; start < content.length; start += stretchBytes)
      yield content.subarray(start, start + stretchBytes);
  }
}

/** The contents in the same block again and again, which is sent by the time that the next one is asked for. */
async function* inBlocks(contents: readonly Buffer[]): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  let sent = 0;
  for (const content of contents) {
    for (let start = 0; start < content.length; ) {
      const copied = content.copy(block, filled, start);
      start += copied;
      filled += copied;
      if (filled < blockBytes) continue;
      yield block;
      filled = 0;
      sent += 1;
      if (sent % blocksATurn === 0) await nextTurn();
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}
