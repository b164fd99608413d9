import type { ServerResponse } from 'node:http';
import { maxHeaderSize } from './guarded-server.ts';
import { rawAnswer } from './raw-answer.ts';

const plainText = 'text/plain; charset=utf-8';

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
  hosts: { status: 400, text: 'The header Host came more than once; send it once.\n' },
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
      'content-type': plainText,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...headers,
    })
    .end(text);
}

/** The answer to what is no request, by the code of Node's error. */
export function answerToNoRequest(code: string, headers: Readonly<Record<string, string>>): string {
  const { status, text } = noRequest[code] ?? { status: 400, text: 'What came is not a request as HTTP has it.\n' };
  return rawAnswer(status, text, { ...headers, 'content-type': plainText });
}

const noRequest: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, text: `The headers are longer than ${maxHeaderSize} bytes.\n` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, text: 'The request did not arrive in time.\n' },
};
