import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { belowBase, type Exchange, ownRecordings, readExchanges, recordedHeader, wireBody } from './recordings.ts';
import { startHttpsServer } from './tls-server.ts';

export type ReplayServer = Awaited<ReturnType<typeof startReplayServer>>;

const apiKey = 'TEST_KEY';
const keyHeaders = ['api_key', 'api-key', 'zapi_key', 'zapi-key'];
const transportHeader = /^(?:connection|content-length|transfer-encoding)$/i;
const deactivated = { status: 402, body: { message: 'The appliance is not activated', error: 'true' } };
const unauthorised = { status: 401, body: { message: 'Authorization required' } };

/**
 * Serves recorded answers back, by verb, path, key and body: what a client makes of a real
 * appliance's bytes. Ends with the test.
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
} = {}) {
  const exchanges = [...readExchanges(directory)].sort((a, b) => phase(a) - phase(b));

  async function answer(response: ServerResponse, request: IncomingMessage): Promise<void> {
    const { method = 'GET', headers } = request;
    const path = belowBase(request.url ?? '/');
    const body = await text(request);
    const hasKey = keyOf(headers) === apiKey;
    const exchange = exchanges.find((candidate) => fits(candidate, { method, path, body, headers }));
    if (exchange && !(unlicensed && hasKey)) {
      response.writeHead(
        exchange.response.status,
        exchange.response.headers.filter(([name]) => !transportHeader.test(name)).flat(),
      );
      response.end(alter(replayedBody(exchange), path, response));
    } else if (hasKey && !unlicensed && listOfBackends(exchanges, path)) {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(listOfBackends(exchanges, path));
    } else {
      const error = !hasKey ? unauthorised : unlicensed ? deactivated : notFound(path);
      response.writeHead(error.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(error.body));
    }
  }

  const server = await startHttpsServer((response, request) => void answer(response, request));
  return {
    /** `https://127.0.0.1:PORT`, without a path. */
    url: server.url.origin,
    fingerprintSha256: server.material.fingerprintSha256,
    apiKey,
    close: server.close,
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

/**
 * Returns the list of backends of an L4 farm for which it was not recorded alone, from its recorded
 * configuration: where both were recorded, they are equal (l4-backends.test.ts).
 */
function listOfBackends(exchanges: readonly Exchange[], path: string): string | undefined {
  const farm = /^(\/farms\/[^/]+)\/backends$/.exec(path)?.[1];
  const recorded = exchanges.find(({ request }) => request.method === 'GET' && belowBase(request.path) === farm);
  const { backends } = recorded?.response.status === 200 ? (JSON.parse(recorded.response.body) as L4Detail) : {};
  return backends && JSON.stringify({ params: backends });
}

interface L4Detail {
  readonly backends?: readonly unknown[];
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
