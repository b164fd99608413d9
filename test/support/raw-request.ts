import { connect } from 'node:tls';

export interface RawAnswer {
  readonly status: number;
  /** As sent, repeated names included. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** False when the connection ended before the body was complete. */
  readonly complete: boolean;
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
  const content =
    value('transfer-encoding') === 'chunked'
      ? unchunked(rest)
      : { body: rest, complete: rest.length === Number(value('content-length') ?? rest.length) };
  return { status: Number(statusLine.split(' ')[1]), headers, ...content };
}

function unchunked(bytes: Buffer): { readonly body: Buffer; readonly complete: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.subarray(at, lineEnd).toString(), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts), complete: false };
    if (size === 0) return { body: Buffer.concat(parts), complete: true };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
