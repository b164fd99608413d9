import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { healthcheck } from '../../../src/commands/healthcheck.ts';
import { givenContext } from './given-command.ts';

it.each([
  ['responds', 200, 0],
  ['wants a password', 401, 0],
  ['has too many requests for now', 429, 0],
  ['is another program', 404, 1],
  ['fails', 500, 1],
])('the health check for an exporter that %s (%i) exits with %i', async (_, status, code) => {
  const server = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { context } = givenContext({ flags: { 'web.listen-address': `127.0.0.1:${port}` } });

  expect(await healthcheck(context)).toBe(code);
});
