import { STATUS_CODES } from 'node:http';

/**
 * Returns a complete HTTP/1.1 response as text, for connections without a valid request; it closes
 * the connection.
 */
export function rawResponse(status: number, body: string, headers: Readonly<Record<string, string>>): string {
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
