import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { createTlsMaterial } from '../../simulator/tls.ts';
import { belowBase, type Exchange, ownRecordings, readExchanges, recordedHeader, wireBody } from './recordings.ts';

interface ReplayedRequest {
  readonly method: string;
  /** Below the base path, query included. */
  readonly path: string;
  readonly status: number;
}

export interface ReplayServer {
  /** `https://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  readonly fingerprintSha256: string;
  readonly certificatePem: string;
  readonly apiKey: string;
  readonly requests: readonly ReplayedRequest[];
  close(): Promise<void>;
}

const apiKey = 'TEST_KEY';
const keyHeaders = ['api_key', 'api-key', 'zapi_key', 'zapi-key'];
const deactivated = { message: 'The appliance is not activated', error: 'true' };
const unauthorised = { status: 401, body: { message: 'Authorization required' } };

/**
 * Serves recorded answers back, by verb, path, key and body: what a client makes of a real
 * appliance's bytes.
 */
export async function startReplayServer({
  directory = ownRecordings,
  alter = (body) => body,
  unlicensed = false,
}: {
  readonly directory?: string;
  /** Changes the body of an answer to this path. */
  readonly alter?: (body: Buffer, path: string, response: ServerResponse) => Buffer;
  /** Answers 402 to every call with a known key, as a deactivated Enterprise Edition does. */
  readonly unlicensed?: boolean;
} = {}): Promise<ReplayServer> {
  const exchanges = [...readExchanges(directory)].sort((a, b) => phase(a) - phase(b));
  const material = createTlsMaterial();
  const requests: ReplayedRequest[] = [];

  const server = createServer({ key: material.key, cert: material.cert }, (request, response) => {
    void text(request).then((body) => {
      if (unlicensed && keyOf(request.headers) === apiKey) {
        response.writeHead(402, { 'Content-Type': 'application/json' }).end(JSON.stringify(deactivated));
        requests.push({ method: request.method ?? 'GET', path: belowBase(request.url ?? '/'), status: 402 });
        return;
      }
      const method = request.method ?? 'GET';
      const path = belowBase(request.url ?? '/');
      const exchange = exchanges.find((candidate) => fits(candidate, { method, path, body, headers: request.headers }));
      if (exchange) {
        const { status, headers } = exchange.response;
        response.writeHead(
          status,
          headers.filter(([name]) => !/^(?:connection|content-length|transfer-encoding)$/i.test(name)).flat(),
        );
        response.end(alter(replayedBody(exchange), path, response));
        requests.push({ method, path, status });
        return;
      }
      const { status, body: error } = keyOf(request.headers) === apiKey ? notFound(path) : unauthorised;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(error));
      requests.push({ method, path, status });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://127.0.0.1:${port}`,
    fingerprintSha256: material.fingerprintSha256,
    certificatePem: material.cert,
    apiKey,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/**
 * Reads and errors show the appliance's final state, and stand before what was read between the
 * writes.
 */
function phase({ name }: Exchange): number {
  return /^[23]/.test(name) ? 1 : 0;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

function fits({ request, response }: Exchange, { method, path, body, headers }: Asked): boolean {
  const recordedHeaders = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  return (
    request.method === method &&
    belowBase(request.path) === path &&
    (method === 'GET' || (request.body ?? '') === body) &&
    keyOf(recordedHeaders) === keyOf(headers) &&
    (recordedHeader(response.headers, 'content-encoding') !== 'gzip' ||
      /\bgzip\b/.test(headers['accept-encoding'] ?? ''))
  );
}

function keyOf(headers: IncomingMessage['headers']): string {
  return String(keyHeaders.map((name) => headers[name]).find((value) => value !== undefined) ?? '');
}

function replayedBody(exchange: Exchange): Buffer {
  const body = wireBody(exchange);
  const zips =
    recordedHeader(exchange.response.headers, 'content-encoding') === 'gzip' &&
    exchange.response.body_encoding === 'utf-8';
  return zips ? gzipSync(body) : body;
}

function notFound(path: string) {
  return { status: 404, body: { description: 'No such call', error: 'true', message: `Request not found: ${path}` } };
}
