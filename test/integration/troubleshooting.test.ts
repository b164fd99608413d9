import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, createApplianceClient } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import { ApplianceError, type FailureReason } from '../../src/appliance/errors.ts';
import { Secret } from '../../src/lib/secret.ts';
import { codeSpansIn, tablesIn } from '../support/document-tables.ts';
import { makeMaterial, startHttpsServer } from '../support/tls-server.ts';

interface Explained {
  readonly reasons: readonly string[];
  readonly quotes: readonly string[];
}

/** The rows of docs/troubleshooting.md about failed calls: reasons, and the words of each. */
const rows: readonly Explained[] = (
  tablesIn(readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8')).find(
    ({ head }) => head[0] === '`reason`',
  )?.rows ?? []
).map(([reasons = '', quotes = '']) => ({ reasons: codeSpansIn(reasons), quotes: codeSpansIn(quotes) }));

const isQuoteOf = (quote: string, message: string): boolean =>
  new RegExp(quote.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll('…', '.*')).test(message);

interface Failure {
  readonly what: string;
  readonly reason: FailureReason;
  readonly answer?: (response: ServerResponse) => void;
  readonly client?: Partial<ClientOptions>;
  /** The host name in the certificate, which the client trusts. */
  readonly certifiedName?: string;
  readonly isClosed?: boolean;
  readonly farm?: string;
}

const json =
  (status: number, body: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const page =
  (status: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end('<html></html>');
const refusal = { description: 'Farm', error: 'true', message: 'No' };

const failures: readonly Failure[] = [
  { what: 'a port that is closed', reason: 'connect', isClosed: true },
  { what: 'no answer', reason: 'timeout', answer: () => undefined, client: { timeoutMs: 100 } },
  { what: 'a certificate of its own', reason: 'tls', client: { tls: { insecureSkipVerify: false } } },
  {
    what: 'another certificate than the pinned one',
    reason: 'tls',
    client: { tls: { insecureSkipVerify: false, fingerprintSha256: 'ab'.repeat(32) } },
  },
  { what: 'a certificate for another name', reason: 'tls', certifiedName: 'lb.example.org' },
  { what: 'a wrong key', reason: 'unauthorized', answer: json(401, { message: 'Authorization required' }) },
  { what: 'no activation', reason: 'unlicensed', answer: json(402, { message: 'None', certificate_key: 'x' }) },
  { what: 'a missing right', reason: 'forbidden', answer: json(403, refusal) },
  { what: 'a path without the API', reason: 'not_found', answer: page(404) },
  { what: 'a call that the release lacks', reason: 'not_found', answer: json(404, refusal) },
  { what: 'a call that is refused', reason: 'bad_request', answer: json(400, refusal) },
  { what: 'a name that no path can carry', reason: 'bad_request', farm: '..' },
  { what: '405', reason: 'method_not_allowed', answer: json(405, refusal) },
  { what: '409', reason: 'conflict', answer: json(409, refusal) },
  { what: '410', reason: 'gone', answer: json(410, refusal) },
  { what: '503', reason: 'unavailable', answer: page(503) },
  { what: 'a crash', reason: 'server_error', answer: page(500) },
  { what: 'a time-out of its web server', reason: 'gateway_timeout', answer: page(504) },
  { what: 'a page instead of JSON', reason: 'malformed', answer: page(200) },
  {
    what: 'half of the JSON',
    reason: 'malformed',
    answer: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"farms":['),
  },
  {
    what: 'a very long reply',
    reason: 'oversize',
    answer: json(200, { description: 'x'.repeat(2_000) }),
    client: { bodyBytes: 1_000 },
  },
  {
    what: 'a reply of very many values',
    reason: 'oversize',
    answer: json(200, { sessions: Array.from({ length: 300_000 }, () => 1) }),
    client: { bodyBytes: 8 * 1_048_576 },
  },
  {
    what: 'a list of very many rows',
    reason: 'malformed',
    answer: json(200, { backends: Array.from({ length: 10_001 }, () => ({})) }),
  },
  {
    what: 'a reply that is nested very deep',
    reason: 'malformed',
    answer: (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(33) + ']'.repeat(33)),
  },
];

/** Asks a server that is broken in one way. */
async function provoke({ answer, client: options, certifiedName, isClosed, farm = 'shop' }: Failure) {
  const material = makeMaterial(certifiedName === undefined ? {} : { name: certifiedName });
  const server = await startHttpsServer(answer ?? json(200, {}), { material });
  if (isClosed) await server.close();
  const client = createApplianceClient({
    url: server.url,
    tls: {
      insecureSkipVerify: false,
      ...(certifiedName === undefined ? { fingerprintSha256: material.fingerprintSha256 } : { ca: material.cert }),
    },
    apiKey: new Secret('f1x7ure'),
    keyHeader: 'auto',
    timeoutMs: 5_000,
    maxConnections: 1,
    bodyBytes: 100_000,
    decode: createDecoder(),
    now: Date.now,
    onCall: () => undefined,
    ...options,
  });
  onTestFinished(() => client.close());
  const thrown: unknown = await client
    .read('readFarmStats', { farmname: farm }, new AbortController().signal)
    .catch((error: unknown) => error);
  if (!(thrown instanceof ApplianceError)) throw new Error('the call should have failed', { cause: thrown });
  return thrown;
}

describe('docs/troubleshooting.md', () => {
  it.each(failures)('has what is logged for $what', async (failure) => {
    const { reason, message } = await provoke(failure);

    expect(reason).toBe(failure.reason);
    const quotes = rows.filter(({ reasons }) => reasons.includes(reason)).flatMap((row) => row.quotes);
    expect(quotes.filter((quote) => isQuoteOf(quote, message))).not.toEqual([]);
  });

  it('quotes nothing of a failed call that is never said', async () => {
    const messages = await Promise.all(failures.map(async (failure) => (await provoke(failure)).message));

    const quotes = rows.flatMap((row) => row.quotes);

    expect(quotes.filter((quote) => !messages.some((message) => isQuoteOf(quote, message)))).toEqual([]);
  });
});
