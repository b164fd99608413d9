import { connect } from 'node:tls';

export interface RawAnswer {
  readonly status: number;
  /** As sent, repeated names included. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | null;
}

/**
 * Sends a request byte for byte, which HTTP clients would repair or refuse, and reads until the
 * connection ends.
 */
export async function sendRaw(url: string, { method, path, headers, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  const lines = [...headers.filter(([name]) => name.toLowerCase() !== 'connection'), ['Connection', 'close'] as const];
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`,
  );
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer);
  } catch {
    // A cut connection ends the answer; what came is what counts.
  }
  return parsed(Buffer.concat(chunks));
}

function parsed(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = lines.map(
    (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const,
  );
  const value = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  const rest = bytes.subarray(end + 4);
  const body = value('transfer-encoding') === 'chunked' ? unchunked(rest) : rest;
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(bytes.subarray(at, lineEnd).toString(), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
