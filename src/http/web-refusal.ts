import type { ServerResponse } from 'node:http';

/** Nothing on the metrics listener takes a body; a client that sends a short one all the same gets its answer. */
export const mostBodyBytes = 1_024;

/** What a request is answered with that is not let in. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const refusedFor = {
  rate: {
    status: 429,
    text: 'Too many requests; rate_limit in the web configuration allows no more for now.\n',
  },
  body: { status: 413, text: `No request here takes a body beyond ${mostBodyBytes} bytes.\n` },
  credentials: {
    status: 401,
    text: 'Send the user and the password of the web configuration.\n',
    headers: { 'www-authenticate': 'Basic' },
  },
  waiting: {
    status: 503,
    text: 'Too many passwords wait to be checked; try again in a moment.\n',
    headers: { 'retry-after': '1' },
  },
  failure: { status: 500, text: 'Internal error, see the log.\n' },
} satisfies Record<string, Refusal>;

/** The connection ends with it: strangers need no place kept, and what is left of a body is no request. */
export function refuse(response: ServerResponse, { status, text, headers }: Refusal): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...headers,
    })
    .end(text);
}
