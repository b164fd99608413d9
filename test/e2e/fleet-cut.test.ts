import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import type { World } from '../../simulator/world.ts';
import { givenExporterOf, givenWatch } from '../support/given-watch.ts';
import { diary } from '../support/on-call.ts';
import { isThere } from '../support/programs.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));
const sites = ['athens', 'madrid', 'cork', 'delft', 'evora'];
const pairsPerSite = 50;
const minuteMs = 60_000;
/** The collectors that these alerts need, as often as the rules need them: one machine simulates 500 appliances. */
const collectors = {
  ...Object.fromEntries([...collectorDefaults.keys()].map((name) => [name, { enabled: false }])),
  farms: { schedule: '0 * * * * *' },
  cluster: {},
};

// The clock is part of what is shown: nothing is shortened, and the test waits for each minute.
describe.skipIf(missing)('250 pairs at five sites', () => {
  it('are one call and no mail when all are cut off, also over a restart of an Alertmanager', async ({ annotate }) => {
    const worlds = new Map(sites.flatMap(pairsOf));
    const { appliances, address } = await givenExporterOf(worlds, collectors);
    const { alertmanagers, hasStartDelay, messages, knowsFarms } = await givenWatch(address, { scrapeInterval: '1m' });
    await knowsFarms(2 * worlds.size);
    const heardSince = (sinceMs: number) =>
      messages()
        .filter(({ atMs }) => atMs >= sinceMs)
        .map(({ kind, about }) => `${kind} ${about}`)
        .toSorted();

    const cutMs = Date.now();
    for (const appliance of appliances.values()) appliance.fail('*', { kind: 'refuse' });
    await delay(9 * minuteMs);
    if (hasStartDelay) await alertmanagers[0]?.restart();
    await delay(4 * minuteMs);
    await annotate(diary(messages(), cutMs));
    expect(heardSince(cutMs)).toEqual([expect.stringMatching(/^call ZlbApplianceDown 127/)]);
    const healedMs = Date.now();
    for (const appliance of appliances.values()) appliance.heal();
    await delay(6 * minuteMs);
    // A mail about one that is not back yet is right.
    const pager = heardSince(healedMs).filter((line) => !line.startsWith('mail'));
    expect(pager).toEqual([expect.stringMatching(/^end ZlbApplianceDown 127/)]);
  }, 3_600_000);
});

/** Makes pairs whose farms have an address of their own for each pair. */
function pairsOf(site: string, siteIndex: number): (readonly [string, World])[] {
  return Array.from({ length: pairsPerSite }, (_, pair) =>
    healthyPair().map((world, node) => {
      for (const farm of world.farms.values()) farm.vip = `198.51.${siteIndex}.${pair + 1}`;
      return [`lb-${site}-${pair + 1}-${node + 1}`, world] as const;
    }),
  ).flat();
}
