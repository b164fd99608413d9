import { Agent, request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import type { L4Farm } from '../../simulator/world-farms.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { untilAllRead } from '../support/all-read.ts';
import { adminKey, givenGateway } from '../support/given-gateway.ts';
import { until } from '../support/until.ts';
import { givenContext } from '../unit/commands/given-command.ts';
import { givenApprovedBackend } from './changes/given-approvals.ts';

const polls = ['farms', 'farm_config', 'backends', 'certificates', 'interfaces', 'appliance'];

async function textOf(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

/** Returns what the pages, the API and the command say about the farm db. */
async function saidBy(exporter: string) {
  const place = 'appliance=lb-1&farm=db';
  const readable = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  const { context, said } = givenContext({ env: { ZLB_EXPORTER_URL: exporter } });
  const code = await runCommandLine(['history', 'lb-1', 'farm=db', '--since=1h'], context);
  return {
    html: await textOf(`${exporter}/?${place}`),
    page: readable(await textOf(`${exporter}/?${place}`)),
    list: readable(await textOf(`${exporter}/?list=changes&event=configuration&${place}`)),
    runbooks: readable(await textOf(`${exporter}/runbooks?${place}`)),
    api: await textOf(`${exporter}/api/history?kind=configuration&${place}`),
    command: said.join('\n'),
    code,
  };
}

it('a weight changed on the appliance itself is on the pages, in the API and in the command', async () => {
  const world = busyWorld();
  const { appliance, call, metricsUrl } = await givenGateway({ 'lb-1': world }, { polls });
  await untilAllRead(metricsUrl);
  const before = await saidBy(metricsUrl);
  const backend = (world.farms.get('db') as L4Farm).backends[0]!;
  const name = `${backend.ip}:${backend.port}`;
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(() => dispatcher.close());

  const { statusCode, body } = await request(`${appliance.url}/zapi/v4.0/zapi.cgi/farms/db/backends/${backend.id}`, {
    method: 'PUT',
    headers: { zapi_key: adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({ weight: 8 }),
    dispatcher,
  });
  expect([statusCode, await body.text()]).toEqual([200, expect.anything()]);
  // After any call, the farm is read again.
  const headers = { 'x-confirm': 'db', 'x-force': 'true', 'x-reason': 'a test' };
  await call('PUT', '/appliances/lb-1/farms/db/actions', { json: { action: 'restart' }, headers });

  const seen = await until(
    () => saidBy(metricsUrl),
    // A page is of the last second, and they are asked one after another.
    ({ page, command }) => [page, command].every((text) => text.includes('weight:')),
  );
  for (const text of [before.page, before.list, before.runbooks, before.api, before.command])
    expect(text).not.toContain('weight');
  for (const text of [seen.page, seen.list, seen.runbooks])
    expect(text).toMatch(
      new RegExp(
        `backend ${name} of farm db weight: 2 → 8 made elsewhere, not through the gateway between .* and .* UTC`,
      ),
    );
  expect(JSON.parse(seen.api)).toMatchObject({
    events: [{ by: 'elsewhere', differences: [{ farm: 'db', name, setting: 'weight', before: '2', after: '8' }] }],
  });
  expect(seen.command).toMatch(new RegExp(`lb-1/db +backend ${name} +weight: 2 → 8 +elsewhere$`, 'm'));
  expect(seen.code).toBe(0);
});

it('a change through the gateway shows its author, and links to the console', async () => {
  const { id, url, metricsUrl } = await givenApprovedBackend(polls);

  const by = `change ${id} by alice, approved by bob`;
  const seen = await until(
    () => saidBy(metricsUrl),
    ({ page, command }) => [page, command].every((text) => text.includes('new:')),
  );

  expect(seen.html).toContain(`<a href="${url}/console#${id}"><bdi>${by}</bdi></a>`);
  for (const text of [seen.page, seen.runbooks]) {
    expect(text).toMatch(new RegExp(`HTTP 201 farm db ${by}`));
    expect(text).toMatch(new RegExp(`backend 10\\.20\\.9\\.9:5432 of farm db new: .* ${by}`));
  }
  expect(seen.command).toMatch(new RegExp(`backend 10\\.20\\.9\\.9:5432 +new: .* ${by}$`, 'm'));
});
