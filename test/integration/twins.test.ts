import { expect, it } from 'vitest';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import type { World } from '../../simulator/world.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { seriesOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

/** A comparison, and the minute after which the next one may come. */
const withinMs = 90_000;

function setWeight(world: World, weight: number): void {
  const farm = world.farms.get('www');
  const [backend] = farm && 'services' in farm ? (farm.services[0]?.backends ?? []) : [];
  Object.assign(backend ?? {}, { weight });
}

it('a weight changed on one of two equal twins is reported as a difference until the other has it too', async () => {
  const nowMs = Date.now();
  const worlds = { 'lb-paris-1': healthyPair(nowMs)[0], 'lb-paris-2': healthyPair(nowMs)[0] };
  const { url } = await givenExporter(worlds, {
    eager: ['farms', 'farm_config'],
    twins: [['lb-paris-1', 'lb-paris-2']],
  });
  const differences = async (): Promise<readonly string[]> => {
    const page = await (await fetch(`${url}/metrics`)).text();
    return seriesOf(page, 'zlb_twin_differences').map((line) =>
      line.replace(/.*appliance="([^"]*)",twin="([^"]*)",object="([^"]*)".*\} /, '$1 $2 $3 '),
    );
  };
  const of = (weights: number): readonly string[] =>
    [
      ['lb-paris-1', 'lb-paris-2'],
      ['lb-paris-2', 'lb-paris-1'],
    ].flatMap((pair) =>
      // Settings of L4 farms are not read, so nobody knows that all farms are alike.
      ['version', 'certificate', 'service', 'backend', 'check'].map(
        (object) => `${pair.join(' ')} ${object} ${object === 'backend' ? weights : 0}`,
      ),
    );
  const becomes = (weights: number) =>
    until(differences, (seen) => JSON.stringify(seen.toSorted()) === JSON.stringify(of(weights).toSorted()), withinMs);

  await becomes(0);
  setWeight(worlds['lb-paris-1'], 9);
  await becomes(1);
  setWeight(worlds['lb-paris-2'], 9);
  await expect(becomes(0)).resolves.toHaveLength(10);
}, 300_000);
