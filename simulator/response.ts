import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { isRecord } from '../src/lib/check.ts';
import { sleep } from '../src/lib/time.ts';
import type { Reply } from './call.ts';
import type { Fault } from './faults.ts';
import type { Release } from './world.ts';

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const server = 'Cherokee/1.2.104 (UNIX)';
const transport = ['Strict-Transport-Security', 'max-age=31536000; includeSubdomains'] as const;
const gzipHeaders = [
  ['Content-Encoding', 'gzip'],
  ['Vary', 'Accept-Encoding'],
] as const;
const fixedHeaders = [
  ['Access-control-allow-origin', '*'],
  ['Access-control-allow-credentials', 'true'],
  ['Cache-control', 'no-cache'],
  ['Pragma', 'no-cache'],
] as const;

/**
 * Adds the headers of the appliance's web server to a reply, its repeated Date header included
 * (recorded).
 */
export function dress(
  reply: Reply,
  { release, nowMs, gzip }: { release: Release; nowMs: number; gzip: boolean },
): Answer {
  const date = ['Date', new Date(nowMs).toUTCString()] as const;
  const first = [date, ['Server', server] as const, ...(release === 'newest' ? [transport] : [])];
  if (reply.kind === 'page') {
    const body = Buffer.from(page(reply.status));
    const rest = [
      ['Content-Length', String(body.length)],
      ['Content-Type', 'text/html'],
      ['Cache-Control', 'no-cache'],
      ['Pragma', 'no-cache'],
    ] as const;
    return { status: reply.status, headers: [...first, ...rest], body };
  }

  const { body: plain, headers: ofContent } = contentOf(reply, release);
  const zipped = gzip && reply.kind !== 'file';
  const headers = [
    ...first,
    ...(zipped ? gzipHeaders : []),
    ['Expires', new Date(nowMs - 1_000).toUTCString()] as const,
    date,
    ...fixedHeaders,
    ...ofContent,
  ];
  return { status: reply.status, headers, body: zipped ? gzipSync(plain) : plain };
}

/** Sends the head of an answer. Without a length, the body is sent in chunks, as a CGI does. */
function sendHead(response: ServerResponse, { status, headers }: Answer): void {
  if (status === 401) response.statusMessage = 'Authorization Required';
  response.writeHead(status, headers.flat());
}

/** Returns the web server's own page. */
function page(status: number): string {
  const title = `${status} ${titles[status] ?? 'Answer of the web server'}`;
  return `<!DOCTYPE html>\r\n<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<h1>${title}</h1>\r\n<hr>\r\n</body>\r\n</html>\r\n`;
}

const titles: Readonly<Record<number, string>> = {
  404: 'Not Found',
  411: 'Length Required',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

function contentOf(reply: Exclude<Reply, { kind: 'page' }>, release: Release): Pick<Answer, 'body' | 'headers'> {
  const isNewest = release === 'newest';
  switch (reply.kind) {
    case 'json':
      return { body: Buffer.from(serialise(reply.value, release)), headers: [['Content-Type', 'application/json']] };
    case 'text': {
      const type = `text/plain; charset=${isNewest ? 'ISO-8859-1' : 'utf-8'}`;
      return { body: Buffer.from(reply.text), headers: [['Content-Type', type]] };
    }
    case 'file':
      return {
        body: reply.content,
        headers: [
          ['Content-Disposition', `attachment; filename="${reply.filename}"`],
          ['Content-Type', `application/x-download${isNewest ? '; charset=ISO-8859-1' : ''}`],
          ['Content-Length', String(reply.content.length)],
        ],
      };
  }
}

/**
 * Prints JSON as the release does, with sorted keys: compact on the newest line, indented on older
 * ones.
 */
export function serialise(value: unknown, release: Release): string {
  return release === 'newest' ? JSON.stringify(sorted(value)) : `${indented(value, '')}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, inner]) => [key, sorted(inner)]));
}

function indented(value: unknown, margin: string): string {
  const inner = `${margin}   `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${margin}]`;
  }
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = sortedEntries(value);
  if (entries.length === 0) return '{}';
  return `{\n${entries.map(([key, item]) => `${inner}${JSON.stringify(key)} : ${indented(item, inner)}`).join(',\n')}\n${margin}}`;
}

function sortedEntries(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Sends an answer over the wire, damaged as the fault says. */
export async function deliver(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (fault?.kind === 'held') await Promise.race([fault.until, once(signal, 'abort')]);
  if (fault?.kind === 'cut') return cut(response, answer);
  if (fault?.kind === 'slow_body') return sendSlowly(response, answer, fault.bytesPerSecond, signal);
  if (fault?.kind === 'huge_body') return sendHuge(response, answer, fault.bytes);
  return send(
    response,
    fault?.kind === 'truncated' ? { ...without(answer, 'Content-Length'), body: firstHalf(answer) } : answer,
  );
}

function send(response: ServerResponse, answer: Answer): void {
  sendHead(response, answer);
  // A separate write before the end: otherwise Node adds a length, which a CGI's answer lacks.
  if (answer.body.length > 0) response.write(answer.body);
  response.end();
}

function cut(response: ServerResponse, answer: Answer): void {
  const { headers } = without(answer, 'Content-Length');
  sendHead(response, { ...answer, headers: [...headers, ['Content-Length', String(answer.body.length)]] });
  response.write(firstHalf(answer), () => response.destroy());
}

async function sendSlowly(
  response: ServerResponse,
  answer: Answer,
  bytesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  sendHead(response, answer);
  const step = Math.max(1, Math.floor(bytesPerSecond / 10));
  for (let sent = 0; sent < answer.body.length && !response.destroyed; sent += step) {
    response.write(answer.body.subarray(sent, sent + step));
    await sleep((1_000 * step) / bytesPerSecond, signal);
  }
  response.end();
}

async function sendHuge(response: ServerResponse, answer: Answer, bytes: number): Promise<void> {
  sendHead(response, without(without(answer, 'Content-Length'), 'Content-Encoding'));
  const open = Buffer.from('{"description":"A large answer","params":"');
  const close = Buffer.from('"}');
  const block = Buffer.alloc(65_536, 'x');
  response.write(open);
  for (let left = bytes - open.length - close.length; left > 0 && !response.destroyed; left -= block.length) {
    if (!response.write(block.subarray(0, Math.min(left, block.length)))) await drained(response);
  }
  response.end(close);
}

function firstHalf({ body }: Answer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}

function without(answer: Answer, header: string): Answer {
  return { ...answer, headers: answer.headers.filter(([name]) => name !== header) };
}

async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  // A client that leaves closes the connection; then there is no drain event.
  await Promise.race([once(response, 'drain', over), once(response, 'close', over)]);
  over.abort();
}
