import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';

const tinyChunk = '1\r\n \r\n';

/**
 * Begins a request whose body comes in chunks of one byte, and never ends; returns what is
 * answered.
 */
async function beginBody(url: string, token: string, path: string, chunks: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  socket.write(head + tinyChunk.repeat(chunks));
  return await new Promise((resolve) => {
    socket.on('data', (bytes) => resolve(bytes.toString())).on('error', () => resolve('closed'));
  });
}

describe('request bodies of one token', () => {
  const four = <Answer>(post: () => Promise<Answer>) => Promise.all(Array.from({ length: 4 }, post));

  it('are refused by their declared length above a rate, before they are read', async () => {
    const { url, tokenOf, call } = await givenGateway({ 'lb-1': busyWorld() });
    const post = () => call('POST', '/changes', { as: 'operator', json: { a: 'x'.repeat(1_040_000) } });
    const head = `POST /changes HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${tokenOf('operator')}\r\nContent-Type: application/json\r\nContent-Length: 1040000\r\n\r\n`;

    const answers = await four(post);
    const { text: refused } = await exchangeRaw(url, head);
    const other = await call('POST', '/changes', { as: 'admin', json: {} });

    expect(answers.map(({ json }) => json?.code)).toEqual(answers.map(() => 'malformed_body'));
    expect(refused).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: \d+\r\nconnection: close\r\n[^]*"code":"too_many_bytes"/);
    expect(other.json?.code).toBe('malformed_body');
  });

  it('count once they have arrived when their length is unknown', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });
    const post = async () => {
      const body = Readable.from(['{"a":"', 'x'.repeat(1_040_000), '"}']);
      return (await call('POST', '/changes', { as: 'operator', body, type: 'application/json' })).json?.code;
    };

    const first = await four(post);

    expect(new Set(first)).toEqual(new Set(['malformed_body']));
    expect([await post(), await post()]).toEqual(['too_many_bytes', 'too_many_bytes']);
  });
});

describe('an unfinished body in chunks of one byte', () => {
  it('is refused by its number of chunks, long before the byte limit', async () => {
    const { url, tokenOf } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await beginBody(url, tokenOf('operator'), '/changes', 600);

    expect(answer).toContain('HTTP/1.1 413 ');
    expect(answer).toContain('"code":"body_too_large"');
    expect(answer).toContain('in more than 256 parts with less than 256 bytes each');
  });

  it.each([
    ['/changes', 'role_too_low'],
    ['/changes/ch-aaaaaaaaaa/approve', 'unknown_change'],
    ['/changes/ch-aaaaaaaaaa/deny', 'unknown_change'],
    ['/alerts', 'role_too_low'],
    ['/appliances/lb-1/farms', 'role_too_low'],
  ])('is not read from a viewer: POST %s is answered before the body ends', async (path, code) => {
    const viewer = makeToken();
    const { url } = await givenGateway({ 'lb-1': busyWorld() }, { tokens: [{ token: viewer.token, role: 'viewer' }] });

    expect(await beginBody(url, viewer.token, path, 10)).toContain(`"code":"${code}"`);
  });
});
