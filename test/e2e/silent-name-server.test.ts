import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { givenFolder } from '../support/folder.ts';
import { canReplaceNameServer, startNameServer } from '../support/name-server.ts';
import { valueOf } from '../support/samples.ts';
import { recordedWithoutProbes } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';

const apiKey = 'key-of-the-appliance';
const named = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${index}`);
const good = named('good', 5);
const bad = named('bad', 20);

/** An exporter whose appliances are `NAME.test`, all on one simulated appliance. */
async function givenExporter() {
  const appliance = await startSimulatedAppliance({ world: recordedWithoutProbes(), apiKey });
  onTestFinished(() => appliance.close());
  const nameServer = await startNameServer((name) => name.startsWith('bad'));
  const folder = givenFolder();
  const { sha256 } = makeToken();
  const file = writeAdminConfig(folder, {
    appliance,
    names: [],
    apiKey,
    sha256,
    journalFile: join(folder, 'journal.db'),
    polls: { farms: '*/1 * * * * *' },
  });
  const { port } = new URL(appliance.url);
  const tls = { fingerprint_sha256: appliance.fingerprintSha256 };
  const appliances = [...bad, ...good].map((name) => ({
    name,
    url: `https://${name}.test:${port}`,
    api_key: apiKey,
    tls,
  }));
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), appliances }));
  const exporter = await startAdminExporter(file, undefined, nameServer.under);
  const page = async () => await (await fetch(`${exporter.metricsUrl}/metrics`)).text();
  return { appliance, nameServer, exporter, page };
}

const upOf = (page: string, names: readonly string[]) =>
  names.map((appliance) => valueOf(page, 'zlb_up', { appliance }));

describe.runIf(canReplaceNameServer())('names that a silent name server does not resolve', () => {
  it('do not keep other appliances from being read, nor the exporter from stopping', async () => {
    const { exporter, page } = await givenExporter();

    await until(page, (text) => upOf(text, good).every((up) => up === 1));
    const failed = await until(
      () => exporter.log().filter(({ msg, appliance }) => msg === 'poll failed' && bad.includes(String(appliance))),
      (lines) => lines.length >= bad.length,
    );
    const later = await until(page, (text) => upOf(text, bad).every((up) => up === 0));
    const code = await exporter.stop('SIGTERM');

    expect(upOf(later, good)).toEqual(good.map(() => 1));
    expect(new Set(failed.map(({ reason }) => reason))).toEqual(new Set(['connect']));
    expect(failed[0]?.because).toMatch(/its name bad-\d+\.test does not resolve: no answer of the name server/);
    expect(code).toBe(0);
  });

  it('keep their last known address once it was known', async () => {
    const { appliance, nameServer, exporter, page } = await givenExporter();
    await until(page, (text) => upOf(text, good).every((up) => up === 1));

    nameServer.silence(() => true);
    const before = nameServer.asked.length;
    appliance.fail('*', { kind: 'cut' }, { times: 20 });
    await until(
      () => nameServer.asked.slice(before).filter((name) => name.startsWith('good')),
      (asked) => new Set(asked).size === good.length,
    );
    const lastOf = (text: string) =>
      good.map((each) =>
        valueOf(text, 'zlb_collector_last_success_timestamp_seconds', { appliance: each, collector: 'farms' }),
      );
    const then = lastOf(await page());
    const later = await until(page, (text) => lastOf(text).every((time, index) => (time ?? 0) > (then[index] ?? 0)));

    expect(upOf(later, good)).toEqual(good.map(() => 1));
    await until(
      () => exporter.log().filter(({ msg }) => String(msg).startsWith('the name of a host does not resolve')),
      (lines) => lines.length > 0,
    );
  });
});
