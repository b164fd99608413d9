import { STATUS_CODES } from 'node:http';

/** A last answer as bytes on the wire, for where there is no request to answer; the connection ends with it. */
export function rawAnswer(status: number, body: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
