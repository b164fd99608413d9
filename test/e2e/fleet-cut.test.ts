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
  it('cause one call and no mail when all or one site are cut off, even over an Alertmanager restart', async ({
    annotate,
  }) => {
    const worlds = new Map(sites.flatMap(pairsOf));
    const { appliances, address } = await givenExporterOf(worlds, collectors);
    const { alertmanagers, hasStartDelay, messages, knowsFarms } = await givenWatch(address, { scrapeInterval: '1m' });
    await knowsFarms(2 * worlds.size);
    // The end of a mail about one that was back late is none of the next cut.
    const heard = (sinceMs: number, kinds: RegExp) =>
      messages()
        .filter(({ atMs }) => atMs >= sinceMs)
        .map(({ kind, about }) => `${kind} ${about}`)
        .filter((line) => kinds.test(line));

    for (const { who, cut } of [
      { who: '127.0.0.1', cut: [...appliances] },
      { who: 'cork', cut: [...appliances].filter(([name]) => name.startsWith('lb-cork-')) },
    ]) {
      const cutMs = Date.now();
      for (const [, appliance] of cut) appliance.fail('*', { kind: 'refuse' });
      await delay(9 * minuteMs);
      if (hasStartDelay) await alertmanagers[0]?.restart();
      await delay(4 * minuteMs);
      const meanwhile = heard(cutMs, /^(call|end|mail FIRING)/);
      const healedMs = Date.now();
      for (const [, appliance] of cut) appliance.heal();
      await delay(6 * minuteMs);
      await annotate(diary(messages(), cutMs));
      expect(meanwhile).toEqual([expect.stringContaining(`call ZlbApplianceDown ${who}`)]);
      // A mail about one that is not back yet is right.
      expect(heard(healedMs, /^(call|end)/)).toEqual([expect.stringContaining(`end ZlbApplianceDown ${who}`)]);
    }
  }, 5_400_000);
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
