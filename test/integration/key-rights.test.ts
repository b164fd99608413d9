import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import { givenContext } from '../unit/commands/given-command.ts';
import { untilAllRead } from '../support/all-read.ts';
import { until } from '../support/until.ts';
import { apiKey, givenReloadable } from './reload/given-reloadable.ts';

const ofFarms = ['GET /farms', 'GET /stats/farms', 'GET /farms/{farmname}', 'GET /stats/farms/{farmname}'];
const others = Object.values(endpoints)
  .map(({ route }) => route)
  .filter((route) => route.startsWith('GET ') && !ofFarms.includes(route));

const fail = (appliance: SimulatedAppliance, routes: readonly string[], status: number): void => {
  for (const route of routes) appliance.fail(route, { kind: 'status', status });
};

/** Runs the program; what it wrote is one text. */
async function run(...words: readonly string[]) {
  const { context, said, warned, written } = givenContext({});
  const code = await runCommandLine(words, context);
  return { code, text: [...said, ...warned, Buffer.concat(written).toString()].join('\n') };
}

/** Asks everything that a user asks about an appliance with a key. */
async function everything(prepare: (appliance: SimulatedAppliance) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'zlb-rights-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const given = await givenReloadable(['lb-1'], ({ entry, appliance }) => {
    prepare(appliance('lb-1'));
    return { appliances: [entry('lb-1')] };
  });
  const farmsWereTried = (text: string): boolean => /zlb_collector_success\{[^}]*collector="farms"[^}]*\} /.test(text);
  await untilAllRead(given.daemon.url);
  const metrics = await until(() => given.page(), farmsWereTried);
  const key = join(folder, 'given.key');
  await writeFile(key, apiKey, { mode: 0o600 });
  const target = given.appliance('lb-1').url.replace('https://', '');
  const config = `--config.file=${given.path('zlb.yml')}`;
  const farmsRead = /^zlb_collector_success\{[^}]*collector="farms"[^}]*\} (\d)/m.exec(metrics)?.[1];
  const pluginFarm = () => run('plugin', 'farm', 'lb-1', `--exporter.url=${given.daemon.url}`);
  const json = await run('check', config, '--json');
  return {
    init: await run(
      'init',
      target,
      '--trust-first',
      '--name=lb-1',
      `--api-key-file=${key}`,
      `--config.file=${join(folder, 'new.yml')}`,
    ),
    check: await run('check', config),
    json: JSON.parse(json.text) as { exit_code: number; appliances: readonly { ok: boolean; failure: unknown }[] },
    page: (await given.page('/?appliance=lb-1')).replaceAll(/<[^>]*>/g, ''),
    up: /^zlb_up\{[^}]*\} (\d)/m.exec(metrics)?.[1],
    farmsRead,
    plugin: await run('plugin', 'appliance', 'lb-1', `--exporter.url=${given.daemon.url}`),
    // The backends are read soon after the farms.
    pluginFarm: farmsRead === '1' ? await until(pluginFarm, ({ code }) => code !== 3) : await pluginFarm(),
  };
}

describe('an API key', () => {
  it('fails everywhere without permissions, and nothing is written', async () => {
    const { init, check, json, page, up, farmsRead, plugin, pluginFarm } = await everything((appliance) =>
      fail(appliance, ['*'], 403),
    );

    expect(init).toMatchObject({ code: 1, text: expect.stringMatching(/may not read farms, .*Nothing was written/) });
    expect(init.text).not.toContain('accepted');
    expect(check).toMatchObject({
      code: 1,
      text: expect.stringMatching(/^lb-1 {2}FAILED {2}.*may not read its farms/m),
    });
    expect(check.text).not.toContain('enabled: false');
    expect(json).toMatchObject({ exit_code: 1, appliances: [{ ok: false, failure: { reason: 'forbidden' } }] });
    expect(page).toMatch(/critical: The API key of lb-1 may not read its farms/);
    expect([up, farmsRead]).toEqual(['1', '0']);
    expect(plugin).toMatchObject({ code: 2, text: expect.stringMatching(/^CRITICAL - .*may not read its farms/) });
    expect(pluginFarm).toMatchObject({ code: 3, text: expect.stringContaining('(forbidden)') });
  });

  it('is usable everywhere with permissions for farms alone, and the missing ones are named', async () => {
    const { init, check, json, page, up, farmsRead, plugin, pluginFarm } = await everything((appliance) =>
      fail(appliance, others, 403),
    );

    expect(init).toMatchObject({
      code: 0,
      text: expect.stringMatching(/may read farms\. It may not read .*certificates/),
    });
    expect(check).toMatchObject({ code: 0, text: expect.stringMatching(/The key may not read .*certificates/) });
    expect(/Polled +(.*)/.exec(check.text)?.[1]).not.toContain('letsencrypt');
    expect(json).toMatchObject({ exit_code: 0, appliances: [{ ok: true, failure: null }] });
    expect(page).toMatch(/warning: The API key of lb-1 may not read /);
    expect(page).not.toContain('critical: ');
    expect([up, farmsRead]).toEqual(['1', '1']);
    expect(plugin.code).toBe(1);
    expect(pluginFarm.text).toContain('2 farms');
  });

  it('fails everywhere for an appliance without a licence, and the page says why', async () => {
    const { init, check, json, page, up, farmsRead, plugin, pluginFarm } = await everything((appliance) =>
      fail(appliance, ['*'], 402),
    );

    expect(init).toMatchObject({ code: 0, text: expect.stringMatching(/is deactivated \(402\).*\nWrote /) });
    expect(init.text).not.toContain('accepted');
    expect(check).toMatchObject({ code: 1, text: expect.stringMatching(/^lb-1 {2}FAILED {2}.*deactivated/m) });
    expect(json).toMatchObject({ exit_code: 1, appliances: [{ ok: false, failure: { reason: 'unlicensed' } }] });
    expect(page).toMatch(/warning: lb-1 is deactivated/);
    expect([up, farmsRead]).toEqual(['1', '0']);
    expect(plugin).toMatchObject({ code: 1, text: expect.stringMatching(/^WARNING - lb-1 is deactivated/) });
    expect(pluginFarm.code).toBe(3);
  });
});
