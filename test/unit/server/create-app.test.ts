import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createTlsMaterials } from '../../../simulator/tls.ts';
import { createGuardedApp } from '../../../src/server/create-app.ts';

const tls = createTlsMaterials().usual;
const times = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000, keepAliveMs: 1_000, stallTimeoutMs: 10_000 };
const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

it.each([
  ['plain', undefined, (port: number): Socket => connectPlain(port, '127.0.0.1')],
  ['TLS', tls, (port: number): Socket => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })],
] as const)('a body of single bytes that arrives at once is not parsed to its end: %s', async (_, used, connect) => {
  const { app } = createGuardedApp({
    ...times,
    tls: used,
    closeGraceMs: 0,
    maxConnections: 10,
    responseTo: () => ({ status: 400, headers: {}, body: '' }),
    handlesUnsupportedRequests: false,
  });
  onTestFinished(() => app.close());
  let parts = 0;
  app.server.prependListener('request', (request) => {
    const push = request.push.bind(request);
    request.push = (part: unknown) => {
      parts += 1;
      return push(part);
    };
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.post('/', (_request, reply) => reply.code(403).header('connection', 'close').send());
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));

  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port));
    socket.write(head + '1\r\nx\r\n'.repeat(100_000));
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString())).once('error', reject);
  });

  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(parts).toBeGreaterThan(256);
  expect(parts).toBeLessThan(2_000);
});
