import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Reply } from './reply.ts';
import { serialise } from './serialise.ts';
import type { Release } from './world.ts';

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const server = 'Cherokee/1.2.104 (UNIX)';
const transport = ['Strict-Transport-Security', 'max-age=31536000; includeSubdomains'] as const;

/** Dresses a reply as the appliance's web server does, its repeated Date header included (recorded). */
export function dress(
  reply: Reply,
  { release, nowMs, gzip }: { release: Release; nowMs: number; gzip: boolean },
): Answer {
  const date = ['Date', new Date(nowMs).toUTCString()] as const;
  const first = [date, ['Server', server], transport] as const;
  if (reply.kind === 'page') {
    const body = Buffer.from(page(reply.status));
    const rest = [
      ['Content-Length', String(body.length)],
      ['Content-Type', 'text/html'],
      ['Cache-Control', 'no-cache'],
      ['Pragma', 'no-cache'],
    ] as const;
    return { status: reply.status, headers: [...first, ...(reply.headers ?? []), ...rest], body };
  }

  const plain = bodyOf(reply, release);
  const zipped = gzip && plain.length > 0 && reply.kind !== 'file';
  const headers = [
    ...first,
    ...(zipped
      ? ([
          ['Content-Encoding', 'gzip'],
          ['Vary', 'Accept-Encoding'],
        ] as const)
      : []),
    ...(reply.headers ?? []),
    ['Expires', new Date(nowMs - 1_000).toUTCString()] as const,
    date,
    ['Access-control-allow-origin', '*'] as const,
    ['Access-control-allow-credentials', 'true'] as const,
    ['Cache-control', 'no-cache'] as const,
    ['Pragma', 'no-cache'] as const,
    ...contentHeaders(reply, release, plain),
  ];
  return { status: reply.status, headers, body: zipped ? gzipSync(plain) : plain };
}

/** Sends the head of an answer; without a length of its own, the body goes out in chunks as a CGI's does. */
export function sendHead(response: ServerResponse, { status, headers }: Answer, length?: number): void {
  const all =
    length === undefined
      ? headers
      : [...headers.filter(([name]) => name !== 'Content-Length'), ['Content-Length', String(length)] as const];
  if (status === 401) response.statusMessage = 'Authorization Required';
  response.writeHead(status, all.flat());
}

/** The web server's own page. */
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

function bodyOf(reply: Exclude<Reply, { kind: 'page' }>, release: Release): Buffer {
  switch (reply.kind) {
    case 'json':
      return Buffer.from(serialise(reply.value, release));
    case 'text':
      return Buffer.from(reply.text);
    case 'file':
      return reply.content;
    case 'empty':
      return Buffer.alloc(0);
  }
}

function contentHeaders(
  reply: Exclude<Reply, { kind: 'page' }>,
  release: Release,
  body: Buffer,
): (readonly [string, string])[] {
  switch (reply.kind) {
    case 'json':
      return [['Content-Type', release === 'newest' ? 'application/json' : 'application/json; charset=utf-8']];
    case 'text':
      return [['Content-Type', release === 'newest' ? 'text/plain; charset=ISO-8859-1' : 'text/plain']];
    case 'file':
      return [
        ['Content-Disposition', `attachment; filename="${reply.filename}"`],
        ['Content-Type', 'application/x-download; charset=ISO-8859-1'],
        ['Content-Length', String(body.length)],
      ];
    case 'empty':
      return [['Content-Type', 'text/html; charset=ISO-8859-1']];
  }
}
