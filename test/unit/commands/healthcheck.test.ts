import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Flags } from '../../../src/commands/flags.ts';
import { healthcheck } from '../../../src/commands/healthcheck.ts';
import { givenFolder } from '../../support/folder.ts';
import { listening } from '../../support/listening.ts';
import { makeMaterial, startHttpsServer } from '../../support/tls-server.ts';
import { givenContext } from './given-command.ts';

it.each([
  ['responds', 200, 0],
  ['wants a password', 401, 0],
  ['has too many requests for now', 429, 0],
  ['is another program', 404, 1],
  ['fails', 500, 1],
])('the health check for an exporter that %s (%i) exits with %i', async (_, status, code) => {
  const port = await listening(createServer((_request, response) => response.writeHead(status).end()));

  expect(await check(port)).toMatchObject({ code });
});

const start = 'start the exporter, or give the --web.listen-address that it has';

it('the health check names --web.config.file for a listener with TLS', async () => {
  const { url } = await startHttpsServer((response) => response.end());

  expect(await check(Number(url.port))).toEqual({
    code: 1,
    warned: expect.stringMatching(
      /: socket hang up; if the exporter has TLS, give its --web\.config\.file, /,
    ) as string,
  });
});

it('the health check names --web.config.file for what does not speak HTTP', async () => {
  const port = await listening(createTcpServer((socket) => socket.end('\x15\x03\x01')));

  const { code, warned } = await check(port);

  expect(code).toBe(1);
  expect(warned).toContain('; if the exporter has TLS, give its --web.config.file, ');
});

it('the health check with --web.config.file says that a listener has no TLS', async () => {
  const folder = givenFolder();
  const { cert, key } = makeMaterial();
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const file = join(folder, 'web.yml');
  writeFileSync(file, 'tls_server_config: { cert_file: cert.pem, key_file: key.pem }');
  const port = await listening(createServer((_, response) => response.end()));

  expect(await check(port, { 'web.config.file': file })).toEqual({
    code: 1,
    warned: `https://127.0.0.1:${port}/-/healthy does not answer: that port does not speak TLS; leave --web.config.file out if the exporter runs without it, or give the --web.listen-address that it has`,
  });
});

it('the health check does not call a hung exporter a stopped one', async () => {
  const port = await listening(createServer());
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new DOMException('', 'TimeoutError')));
  onTestFinished(() => void vi.restoreAllMocks());

  expect((await check(port)).warned).toMatch(/does not answer: it took longer than 3 s; see the log of the exporter, /);
});

it('the health check says to start the exporter if nothing listens', async () => {
  const { code, warned } = await check(1);

  expect(code).toBe(1);
  expect(warned).toContain(`ECONNREFUSED 127.0.0.1:1; ${start}`);
});

async function check(port: number, flags: Flags = {}) {
  const { context, warned } = givenContext({ flags: { 'web.listen-address': `127.0.0.1:${port}`, ...flags } });
  return { code: await healthcheck(context), warned: warned.join('\n') };
}
