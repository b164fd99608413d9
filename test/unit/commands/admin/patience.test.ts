import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createGatewayClient } from '../../../../src/commands/admin/gateway-client.ts';
import { Secret } from '../../../../src/lib/secret.ts';

it('a request waits for the gateway as long as that may wait for an appliance', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const connection = { url: `http://127.0.0.1:${port}`, token: new Secret('f1x7ure') };
  const client = createGatewayClient(connection, new AbortController().signal);
  onTestFinished(() => client.close());

  const answer = client.send({ method: 'PUT', path: '/x' });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  await vi.advanceTimersByTimeAsync(3_600_000);
  response.writeHead(200, { 'x-request-id': '1' }).end();

  expect(await answer).toMatchObject({ status: 200 });
});
