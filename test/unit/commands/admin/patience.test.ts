import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createGatewayClient, type GatewayRequest } from '../../../../src/commands/admin/gateway-client.ts';
import { Secret } from '../../../../src/lib/secret.ts';

/** A gateway that has received a request, and has not answered it. */
async function givenUnanswered(request: GatewayRequest) {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const connection = { url: `http://127.0.0.1:${port}`, token: new Secret('f1x7ure') };
  const stopping = new AbortController();
  const client = createGatewayClient(connection, stopping.signal);
  onTestFinished(() => client.close());

  const answer = client.send(request);
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { answer, response, stopping };
}

it('a request waits for the gateway as long as the gateway may wait for an appliance', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { answer, response } = await givenUnanswered({ method: 'PUT', path: '/x' });

  await vi.advanceTimersByTimeAsync(3_600_000);
  response.writeHead(200, { 'x-request-id': '1' }).end();

  expect(await answer).toMatchObject({ status: 200 });
});

it.each([
  ['a change', { method: 'PUT', path: '/x' }, 'Whether it was carried out is not known: look before you repeat it.'],
  ['a read', { method: 'GET', path: '/x' }, ''],
  ['the dry run of a call', { method: 'PUT', path: '/x', headers: { 'x-dry-run': 'true' } }, ''],
  ['the dry run of a change', { method: 'POST', path: '/changes?dry_run=true' }, ''],
])('the message after an interrupted call says whether it may have been executed: %s', async (_, request, remedy) => {
  const { answer, stopping } = await givenUnanswered(request);

  stopping.abort();

  await expect(answer).rejects.toMatchObject({ title: 'Interrupted', remedy });
});
