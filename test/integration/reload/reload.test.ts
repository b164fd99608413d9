import { chmod, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { genSaltSync, hashSync } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { listening } from '../../support/listening.ts';
import { seriesOf, valueOf } from '../../support/samples.ts';
import { until, untilIs } from '../../support/until.ts';
import { apiKey, givenReloadable, type Reloadable } from './given-reloadable.ts';

const reloadPath = '/-/reload';
const inForce = (page: string): number | undefined => valueOf(page, 'zlb_exporter_config_last_reload_successful');
const up = (page: string, appliance: string): number | undefined => valueOf(page, 'zlb_up', { appliance });
const calls = (page: string, appliance: string): number | undefined =>
  valueOf(page, 'zlb_api_requests_total', { appliance, endpoint: '/farms', code: '200' });

describe('a reload', () => {
  it('adds and removes twins, also of appliances in other files', async () => {
    const given = await givenReloadable(
      ['a', 'b'],
      ({ entry }) => ({ appliances: [entry('a')], appliance_files: ['more.yml'] }),
      { 'more.yml': [] },
    );
    const files = { appliance_files: ['more.yml'], appliances: [given.entry('a')] };
    await given.write('more.yml', [given.entry('b')]);
    await given.write('zlb.yml', { ...files, twins: [['a', 'b']] });

    expect(await given.post(reloadPath)).toMatchObject({ status: 200 });
    // Compared 5 s after a reload, and then once a minute: twice what a slow machine needs.
    await until(
      given.page,
      (page) => valueOf(page, 'zlb_twin_differences', { appliance: 'a', object: 'farm' }) === 0,
      150_000,
    );
    expect(await given.page()).toContain('zlb_twins_info{appliance="a",twin="b"} 1');

    await given.write('zlb.yml', files);
    await given.post(reloadPath);
    expect(await given.page()).not.toContain('zlb_twin');
  });

  it('adds and removes appliances, without a call to the others or a lost series', async () => {
    const given = await givenReloadable(['a', 'b', 'c'], ({ entry }) => ({ appliances: [entry('a'), entry('b')] }));
    const before = await given.allRead('a', 'b');
    const callsOfA = given.appliance('a').requests.length;

    await given.write('zlb.yml', { appliances: [given.entry('c'), given.entry('a')] });
    const answer = await given.post(reloadPath);
    const after = await given.page();

    expect(answer).toEqual({ status: 200, text: 'Reloaded: added c; removed b.\n' });
    expect(seriesOf(after, 'zlb_backend_status', { appliance: 'a' })).toEqual(
      seriesOf(before, 'zlb_backend_status', { appliance: 'a' }),
    );
    expect(after).not.toContain('appliance="b"');
    expect((await given.page('/sd')).match(/"__param_target":"\w"/g)).toEqual([
      '"__param_target":"c"',
      '"__param_target":"a"',
    ]);
    expect((await fetch(`${given.daemon.url}/probe?target=b`)).status).toBe(404);
    const page = await given.allRead('c');
    expect(page.indexOf('zlb_up{appliance="c"}')).toBeLessThan(page.indexOf('zlb_up{appliance="a"}'));
    expect(given.appliance('a').requests.length - callsOfA).toBeLessThan(given.appliance('c').requests.length / 2);
  });

  it('keeps the readings and counters of an appliance with new settings, and polls it again', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({ appliances: [entry('a')] }));
    const before = await given.allRead('a');

    await given.write('zlb.yml', { appliances: [given.entry('a', { labels: { site: 'paris' } })] });
    await given.post(reloadPath);
    const after = await given.page();

    expect(up(after, 'a')).toBe(1);
    expect(seriesOf(after, 'zlb_backend_status')).toEqual(seriesOf(before, 'zlb_backend_status'));
    expect(calls(after, 'a')).toBeGreaterThanOrEqual(calls(before, 'a') ?? Number.NaN);
    const labelled = await until(
      () => given.page(),
      (page) => seriesOf(page, 'zlb_appliance_info', { site: 'paris' }).length === 1,
    );
    expect(calls(labelled, 'a')).toBeGreaterThan(calls(before, 'a') ?? Number.NaN);
  });

  it('shows nothing of one machine under the name of another', async () => {
    const given = await givenReloadable(['a', 'b'], ({ entry }) => ({ appliances: [entry('a')] }));
    const before = await given.allRead('a');
    given.appliance('b').fail('*', { kind: 'hang' });

    await given.write('zlb.yml', { appliances: [{ ...given.entry('b'), name: 'a' }] });
    await given.post(reloadPath);
    const page = await given.page();

    expect(seriesOf(page, 'zlb_farm_status')).toEqual([]);
    expect(up(page, 'a')).toBeUndefined();
    expect(calls(page, 'a'), 'counters go on, though the other one says nothing yet').toBeGreaterThanOrEqual(
      calls(before, 'a') ?? Number.NaN,
    );
  });

  it('records no event for farms that a new filter excludes, but the changes made meanwhile', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({ appliances: [entry('a')] }));
    await given.allRead('a');
    const choose = async (name: string): Promise<void> => {
      await given.write('zlb.yml', { appliances: [given.entry('a', { farms: { include: [name] } })] });
      await given.post(reloadPath);
    };
    const events = async () => (await given.page('/api/history?kind=configuration')).match(/"setting":"[^"]*"/g);
    const farm = given.appliance('a').world.farms.get('farm-0002');
    if (farm?.profile !== 'http') throw new Error('all farms of this world are HTTP farms');

    await choose('farm-0001');
    await until(
      () => given.page(),
      (page) => !page.includes('farm="farm-0002"'),
    );
    farm.settings.contimeout += 1;
    await choose('farm-0002');

    await untilIs(async () => (await events())?.join(), '"setting":"contimeout"');
    await given.allRead('a');
    expect(await events()).toEqual(['"setting":"contimeout"']);
  });

  it('removes the series of disabled collectors and excluded farms', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({ appliances: [entry('a')] }));
    await given.allRead('a');

    await given.write('zlb.yml', {
      appliances: [given.entry('a', { farms: { exclude: ['farm-0001'] } })],
      collectors: { certificates: { enabled: false } },
    });
    await given.post(reloadPath);

    expect(seriesOf(await given.page(), 'zlb_certificates')).toEqual([]);
    const page = await until(
      () => given.page(),
      (seen) => !seen.includes('farm="farm-0001"'),
    );
    expect(seriesOf(page, 'zlb_backend_status', { farm: 'farm-0002' })).not.toEqual([]);
  });

  it('is refused with the reason if the file is broken, and the old settings stay in effect', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({ appliances: [entry('a')] }));
    const before = await given.allRead('a');

    await given.write('zlb.yml', 'appliances: [{ name: a, ulr: https://192.0.2.1 }]\n');
    const refused = await given.post(reloadPath);

    expect(refused.status).toBe(400);
    expect(refused.text).toContain('zlb.yml:1:25: appliances[0].ulr: unknown key');
    const page = await given.page();
    expect([inForce(before), inForce(page), up(page, 'a')]).toEqual([1, 0, 1]);

    await given.write('zlb.yml', { appliances: [given.entry('a')] });
    expect((await given.post(reloadPath)).status).toBe(200);
    expect(inForce(await given.page())).toBe(1);
  });
});

describe('the file of --web.config.file', () => {
  const withPassword = `basic_auth_users: { prometheus: ${hashSync('secret', genSaltSync(4))} }\n`;
  const givenPassword = () =>
    givenReloadable(['a', 'b'], ({ entry }) => ({ appliances: [entry('a')], appliance_files: ['more.json'] }), {
      'web.yml': withPassword,
      'more.json': [],
    });
  const statusOf = async ({ daemon }: Reloadable) => (await fetch(`${daemon.url}/metrics`)).status;

  it('takes effect only on a reload, even when another configuration file changes', async () => {
    const given = await givenPassword();

    await given.write('web.yml', `${withPassword}http_server_config: { headers: { X-Frame-Options: deny } }\n`);
    await given.write('more.json', [given.entry('b')]);
    await until(
      () => given.logged.join(''),
      (log) => log.includes('a file that it names changed'),
    );
    const before = (await fetch(`${given.daemon.url}/metrics`)).headers.get('x-frame-options');
    const outcome = await given.daemon.reload();

    expect([before, 'value' in outcome]).toEqual([null, true]);
    expect((await fetch(`${given.daemon.url}/metrics`)).headers.get('x-frame-options')).toBe('deny');
  });

  it('is refused when it is truncated before its passwords, and opens nothing', async () => {
    const given = await givenPassword();

    await given.write('web.yml', '{}\n');
    const outcome = await given.daemon.reload();

    expect(outcome).toEqual({ error: expect.stringContaining('nobody would have to log in any more') });
    expect(await statusOf(given)).toBe(401);
  });
});

describe('a file that the configuration references', () => {
  it('is watched: a changed key is used without a reload', async () => {
    const keyless = (entry: Readonly<Record<string, unknown>>) => ({
      ...entry,
      api_key: undefined,
      api_key_file: 'key',
    });
    const given = await givenReloadable(['a'], ({ entry }) => ({ appliances: [keyless(entry('a'))] }), {
      key: 'wrong-key-0123456789\n',
    });
    await until(
      () => given.page(),
      (page) => valueOf(page, 'zlb_collector_errors_total', { collector: 'farms', reason: 'unauthorized' }) === 1,
    );

    // A new file replaces the old one, as in Kubernetes.
    await given.write('new-key', apiKey);
    await rename(given.path('new-key'), given.path('key'));

    const page = await given.allRead('a');
    expect(valueOf(page, 'zlb_collector_errors_total', { collector: 'farms', reason: 'unauthorized' })).toBe(1);
    expect(given.logged.join('')).not.toContain(apiKey);
  });

  it('loses no readings when it has another key of the same appliance, even a wrong one', async () => {
    const given = await givenReloadable(
      ['a'],
      ({ entry }) => ({ appliances: [{ ...entry('a'), api_key: undefined, api_key_file: 'key' }] }),
      { key: apiKey },
    );
    await given.allRead('a');

    await given.write('new-key', 'wrong-key-0123456789');
    await rename(given.path('new-key'), given.path('key'));

    const page = await until(
      () => given.page(),
      (seen) =>
        seriesOf(seen, 'zlb_collector_errors_total', { reason: 'unauthorized' }).some((line) => !line.endsWith(' 0')),
    );
    expect(seriesOf(page, 'zlb_farm_info')).toHaveLength(2);
  });

  it('may list appliances, and its changes apply while the main file waits for a reload', async () => {
    const given = await givenReloadable(
      ['a', 'b', 'c'],
      ({ entry }) => ({ appliances: [entry('a')], appliance_files: ['more/*.yml', 'b.json'] }),
      { 'b.json': [] },
    );
    const names = async (): Promise<string> =>
      ((await given.page('/sd')).match(/(?<="__param_target":")\w/g) ?? []).join(' ');
    expect(await names()).toBe('a');

    await given.write('zlb.yml', { appliances: [] });
    await given.write('b.json', [given.entry('b')]);
    await until(names, (seen) => seen === 'a b');
    await given.write('b.json', '[{');
    await untilIs(async () => inForce(await given.page()), 0);
    expect(await names()).toBe('a b');
    expect(given.logged.join('')).toContain('b.json:1:');

    await given.write('b.json', [given.entry('c')]);
    await until(names, (seen) => seen === 'a c');
    expect(inForce(await given.page())).toBe(1);
    await rm(given.path('b.json'));
    await untilIs(async () => inForce(await given.page()), 0);
    expect(await names()).toBe('a c');
  });

  it('is the only error when the main file is in effect, and its correction suffices', async () => {
    const given = await givenReloadable(
      ['a'],
      ({ entry }) => ({ appliances: [entry('a')], appliance_files: ['b.json'] }),
      { 'b.json': [] },
    );
    await given.write('b.json', 'nonsense');
    expect((await given.post(reloadPath)).status).toBe(400);
    expect(inForce(await given.page())).toBe(0);

    await given.write('b.json', []);

    await untilIs(async () => inForce(await given.page()), 1);
  });

  it('does not apply any part of a refused main file', async () => {
    const taken = createServer();
    const port = await listening(taken);
    const given = await givenReloadable(
      ['a', 'b', 'c'],
      ({ entry }) => ({ appliances: [entry('a')], appliance_files: ['more.json'] }),
      { 'more.json': [] },
    );
    const admin = {
      listen_address: `127.0.0.1:${port}`,
      journal_file: 'journal.db',
      tokens: [{ name: 'someone', sha256: makeToken().sha256, role: 'admin' }],
    };
    await given.write('zlb.yml', { appliances: [given.entry('b')], appliance_files: ['more.json'], admin });
    expect((await given.post(reloadPath)).text).toContain('the address is in use');

    // Nothing stands in its way any more, but nobody said that it is to be tried again.
    await new Promise((resolve) => taken.close(resolve));
    await given.write('more.json', [given.entry('c')]);

    const names = await until(
      () => given.page('/sd'),
      (seen) => seen.includes('"c"'),
    );
    expect(names).toContain('"a"');
    expect(names).not.toContain('"b"');
    expect(given.daemon.adminUrl).toBeUndefined();
    expect(inForce(await given.page())).toBe(0);
  });

  it('triggers the warning about world-readable keys, as at the start', async () => {
    const given = await givenReloadable(
      ['a'],
      ({ entry, path }) => ({ appliances: [entry('a', { api_key: undefined, api_key_file: path('key') })] }),
      { key: apiKey },
    );
    const warnings = (): number =>
      given.logged.filter((line) => line.includes('every user of this machine can read')).length;
    expect(warnings()).toBe(1);
    expect(given.logged.join('')).toContain(`"files":["${given.path('key')}"]`);

    await chmod(given.path('key'), 0o600);
    await given.post(reloadPath);
    expect(warnings()).toBe(1);

    await chmod(given.path('key'), 0o604);
    await given.post(reloadPath);
    expect(warnings()).toBe(2);
  });
});
