import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';
import { givenExporter } from '../../support/given-exporter.ts';
import { givenGateway } from '../../support/given-gateway.ts';

async function ask(url: string, method: string, target: string) {
  const { statuses, text } = await exchangeRaw(
    url,
    `${method} ${target} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`,
  );
  return { status: statuses[0], text };
}

it('a request target in absolute form is reduced to its path, whatever its host, on the metrics listener', async () => {
  const { url } = await givenExporter({ 'lb-1': busyWorld() });

  for (const origin of [new URL(url).origin, 'http://elsewhere.example:81', 'HTTPS://elsewhere.example']) {
    expect((await ask(url, 'GET', `${origin}/-/healthy`)).text, origin).toContain('text/plain');
    expect((await ask(url, 'GET', `${origin}/metrics?appliance=lb-1`)).text).toContain('zlb_exporter_series{');
    expect((await ask(url, 'GET', `${origin}/probe?target=lb-2`)).status).toBe(404);
    expect((await ask(url, 'POST', `${origin}/-/reload`)).status).toBe((await ask(url, 'POST', '/-/reload')).status);
    expect((await ask(url, 'GET', `${origin}/no-such-page`)).status).toBe(404);
    expect((await ask(url, 'GET', origin)).text).toContain('<html');
  }
});

it('a request target in absolute form is reduced to its path on the gateway listener', async () => {
  const { url } = await givenGateway({ 'lb-1': busyWorld() });

  const plain = await ask(url, 'GET', '/whoami');
  const absolute = await ask(url, 'GET', 'http://elsewhere.example/whoami');

  expect([plain.status, absolute.status]).toEqual([401, 401]);
  expect((await ask(url, 'GET', 'http://elsewhere.example/console')).status).toBe(
    (await ask(url, 'GET', '/console')).status,
  );
});
