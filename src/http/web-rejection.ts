import type { ServerResponse } from 'node:http';
import { maxHeaderSize } from './guarded-server.ts';
import { rawResponse } from './raw-response.ts';

const plainText = 'text/plain; charset=utf-8';

/** No path of the metrics listener takes a body; short ones are ignored. */
export const maxBodyBytes = 1_024;

/** The answer to a request that is not accepted. */
export interface WebRejection {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const rejections = {
  rate: {
    status: 429,
    text: 'Too many requests; rate_limit in the web configuration allows no more for now.\n',
  },
  hosts: { status: 400, text: 'The header Host came more than once; send it once.\n' },
  body: { status: 413, text: `No request here takes a body beyond ${maxBodyBytes} bytes.\n` },
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
} satisfies Record<string, WebRejection>;

/**
 * Sends the answer and closes the connection: the rest of a body must not be parsed as a request.
 */
export function sendRejection(response: ServerResponse, { status, text, headers }: WebRejection): void {
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

/** Returns the raw response to a malformed request, by the code of Node's error. */
export function malformedRequestResponse(code: string, headers: Readonly<Record<string, string>>): string {
  const { status, text } = malformedRequests[code] ?? {
    status: 400,
    text: 'What came is not a request as HTTP has it.\n',
  };
  return rawResponse(status, text, { ...headers, 'content-type': plainText });
}

const malformedRequests: Readonly<Record<string, WebRejection>> = {
  HPE_HEADER_OVERFLOW: { status: 431, text: `The headers are longer than ${maxHeaderSize} bytes.\n` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, text: 'The request did not arrive in time.\n' },
};
