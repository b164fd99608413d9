import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { givenGateway } from '../../support/given-gateway.ts';

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

describe('an unfinished body in chunks of one byte', () => {
  it('is refused by its number of chunks, long before its limit in bytes', async () => {
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
  ])('of a viewer is not read: POST %s answers before it ends', async (path, code) => {
    const viewer = makeToken();
    const { url } = await givenGateway({ 'lb-1': busyWorld() }, { tokens: [{ token: viewer.token, role: 'viewer' }] });

    expect(await beginBody(url, viewer.token, path, 10)).toContain(`"code":"${code}"`);
  });
});
