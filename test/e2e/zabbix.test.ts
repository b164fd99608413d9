import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDemonstration } from '../../simulator/demo.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { byName } from '../../simulator/world-creation.ts';
import type { Farm } from '../../simulator/world-farms.ts';
import { httpFarm } from '../../simulator/world-parts.ts';
import { givenFolder } from '../support/folder.ts';
import { actOnFarm, simulatedKey } from '../support/simulated-farms.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { givenZabbix, type ZabbixApi } from '../support/zabbix.ts';

const isRunnable = ['zabbix_server', 'php', 'psql', 'runuser'].map(isThere).every(Boolean) && isRoot();
const farmDown = 'Farm www of lb-paris-1 is critical';
const judgement = 'Farm www of lb-paris-1: judgement';
const state = 'Farm www of lb-paris-1: state';
/** Names that mean something in a pattern, a key, an expression or a page of Zabbix. */
const oddNames = [
  'quote"d',
  "apo'strophe",
  'back\\slash',
  '{braces}',
  '{#FARM}',
  '{$MACRO}',
  'brackets[1],2',
  '<b>bold</b>',
  'spaces and ünïcode',
  'dot.*',
];

describe.skipIf(!isRunnable)('a real Zabbix with the template', () => {
  it('discovers the demonstration, raises and resolves a problem, and shows no stale value as new', async () => {
    const [demonstration, zabbix] = await Promise.all([givenDemonstration(), givenZabbix()]);

    const { lastValue, problems } = await givenHost(zabbix, demonstration.url);
    await until(
      () => lastValue(state),
      (value) => value === 'up',
    );
    const known = ['lb-lisbon is warning', 'Farm legacy of lb-madrid is critical'];
    await until(problems, (seen) => known.every((name) => seen.includes(name)));
    expect(await problems()).not.toContain(farmDown);

    for (const name of oddNames)
      await until(
        () => lastValue(`Farm ${name} of lb-odd: state`),
        (value) => value === 'critical',
        10_000,
      );
    const odd = oddNames.map((name) => `Farm ${name} of lb-odd is critical`);
    await until(
      async () => {
        const seen = await problems();
        return odd.filter((name) => !seen.includes(name));
      },
      (missing) => missing.length === 0,
      10_000,
    );

    await actOnFarm(demonstration.appliance, 'www', 'stop');
    await until(problems, (seen) => seen.includes(farmDown));
    expect(await lastValue(state)).toBe('down');
    expect(await lastValue(judgement)).toBe('critical: Farm www is down');

    await actOnFarm(demonstration.appliance, 'www', 'start');
    await until(problems, (seen) => !seen.includes(farmDown));

    await actOnFarm(demonstration.appliance, 'www', 'stop');
    await until(problems, (seen) => seen.includes(farmDown));
    await demonstration.stop();
    await until(problems, (seen) => seen.includes('zlb-exporter: The exporter for load balancers is not scraped'));
    expect([await lastValue(state), await lastValue(judgement)]).toEqual(['no reading', 'no reading']);
    expect(await problems()).toContain(farmDown);
  }, 300_000);
});

/** PostgreSQL wants to run as its own user, and only root can become that. */
function isRoot(): boolean {
  const isSo = process.getuid?.() === 0;
  if (!isSo) console.warn('NOT RUN: the tests of Zabbix, which need root');
  return isSo;
}

/** The demonstration, with an exporter that reads farms each second. */
async function givenDemonstration() {
  const { appliances, close } = await startDemonstration({ apiKey: simulatedKey, latency: 'none' });
  onTestFinished(close);
  const farms = byName<Farm>(oddNames.map((name) => httpFarm({ name, vip: '192.0.2.42', vport: '80' })));
  const odd = await startSimulatedAppliance({ world: { ...busyWorld(), farms }, apiKey: simulatedKey });
  onTestFinished(() => odd.close());
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  const configuration = {
    appliances: [...appliances, { name: 'lb-odd', appliance: odd }].map(
      ({ name, appliance: { url, fingerprintSha256 } }) => ({
        name,
        url,
        api_key: simulatedKey,
        tls: { fingerprint_sha256: fingerprintSha256 },
      }),
    ),
    collectors: { farms: { schedule: '* * * * * *' } },
    polling: { max_busy_ratio: 1 },
  };
  writeFileSync(file, JSON.stringify(configuration));
  const exporter = startExporter([`--config.file=${file}`, '--web.listen-address=127.0.0.1:0']);
  const paris = appliances.find(({ name }) => name === 'lb-paris-1');
  if (!paris) throw new Error('the demonstration has no lb-paris-1');
  return { url: await exporter.url(), appliance: paris.appliance, stop: () => exporter.stop('SIGTERM') };
}

/** A host with the template, which asks each second and waits for seconds. */
async function givenHost(zabbix: ZabbixApi, url: string) {
  const createAndUpdate = { createMissing: true, updateExisting: true };
  await zabbix('configuration.import', {
    format: 'yaml',
    source: readFileSync('deploy/zabbix/zlb-exporter.yaml', 'utf8'),
    rules: {
      groups: { createMissing: true },
      ...Object.fromEntries(
        ['templates', 'items', 'discoveryRules', 'triggers', 'valueMaps'].map((kind) => [kind, createAndUpdate]),
      ),
    },
  });
  const [template] = await zabbix<readonly { templateid: string }[]>('template.get', {
    filter: { host: 'zlb-exporter' },
  });
  const macros = {
    '{$ZLB.URL}': url,
    '{$ZLB.INTERVAL}': '1s',
    '{$ZLB.FOR:"critical"}': '2s',
    '{$ZLB.FOR:"warning"}': '2s',
    '{$ZLB.FOR:"ZlbExporterDown"}': '3s',
  };
  const { hostids } = await zabbix<{ hostids: readonly string[] }>('host.create', {
    host: 'balancers',
    groups: [{ groupid: '2' }],
    templates: [{ templateid: template?.templateid }],
    macros: Object.entries(macros).map(([macro, value]) => ({ macro, value })),
  });
  return {
    async lastValue(name: string): Promise<string | undefined> {
      const filter = { name };
      const items = await zabbix<readonly { lastvalue: string }[]>('item.get', {
        hostids,
        filter,
        output: ['lastvalue'],
      });
      return items[0]?.lastvalue;
    },
    /** The names of the open problems. */
    async problems(): Promise<readonly string[]> {
      const open = await zabbix<readonly { name: string }[]>('problem.get', { hostids, output: ['name'] });
      return open.map(({ name }) => name);
    },
  };
}
