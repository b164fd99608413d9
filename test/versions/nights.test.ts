import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { expiringWorld } from '../../simulator/scenes/expiring.ts';
import { givenAlerting } from '../support/given-alerting.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager') && isThere('curl'));
const runbooks = readFileSync('docs/operations.md', 'utf8');
/** The definition that the section Commands gives for the way without the gateway. */
const zapi = /^zapi\(\) \{.*?; \}$/ms.exec(runbooks)?.[0] ?? '';

/** Returns the command of the section about an alert that begins so. */
function typed(alert: string, beginning: string): string {
  const section = runbooks.split(`### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';
  const line = section.split('\n').find((each) => each.startsWith(beginning));
  if (line === undefined) throw new Error(`the runbook of ${alert} has no line that begins with ${beginning}`);
  return line;
}

async function shownUp({ prometheus }: Awaited<ReturnType<typeof givenAlerting>>): Promise<void> {
  await until(
    () => prometheus.query('zlb_farm_status{farm="portal",status="up"} == 1').catch(() => []),
    (seen) => seen.length > 0,
    60_000,
  );
}

it.skipIf(missing)(
  'a farm that goes down is one page, and resolved after the repair of its runbook without the gateway',
  async () => {
    const world = expiringWorld();
    const given = await givenAlerting(world);
    const { appliance, apiKey, folder, told, pages } = given;
    await shownUp(given);
    const startedAtMs = performance.now();
    const seconds = (): string => ((performance.now() - startedAtMs) / 1_000).toFixed(1);

    const portal = world.farms.get('portal');
    if (portal) portal.running = false;
    await told('firing', 'ZlbFarmDown', { farm: 'portal' });
    console.log(`a page after ${seconds()} s`);
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, apiKey);
    const repair = typed('ZlbFarmDown', `zapi "/farms/$farm/actions" -X PUT -d '{"action":"start"}'`);
    const { stdout } = await promisify(execFile)('bash', ['-c', `${zapi}\n${repair}`], {
      env: { ...process.env, url: appliance.url, key_file: keyFile, farm: 'portal' },
    });
    expect(JSON.parse(stdout)).toMatchObject({ params: { action: 'start' } });
    await told('resolved', 'ZlbFarmDown', { farm: 'portal' });
    console.log(`resolved after ${seconds()} s`);

    expect(pages().filter((line) => line.includes('ZlbFarm'))).toEqual([
      'firing ZlbFarmDown portal',
      'resolved ZlbFarmDown portal',
    ]);
  },
  180_000,
);

it.skipIf(missing)(
  'an exporter of a pair that dies is a ticket, and a farm that goes down then is still a page',
  async () => {
    const world = expiringWorld();
    const given = await givenAlerting(world, { isPair: true });
    const { told, heard, killExporter } = given;
    await shownUp(given);
    const startedAtMs = performance.now();
    const seconds = (): string => ((performance.now() - startedAtMs) / 1_000).toFixed(1);

    await killExporter();
    const ticket = await told('firing', 'ZlbExporterOfPairDown');
    console.log(`a ticket after ${seconds()} s`);
    const portal = world.farms.get('portal');
    if (portal) portal.running = false;
    const page = await told('firing', 'ZlbFarmDown', { farm: 'portal' });
    console.log(`a page after ${seconds()} s`);

    expect([ticket.receiver, page.receiver]).toEqual(['tickets', 'page-paris']);
    expect(heard('ZlbExporterDown')).toEqual([]);
  },
  180_000,
);
