import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { hasRecordings, recordedProducts } from '../support/recordings.ts';
import { givenHistory } from '../support/given-history.ts';
import { startReplayServer } from '../support/replay-server.ts';

const folders = recordedProducts.flatMap(({ product, clone, beside }) =>
  [clone, ...(hasRecordings(beside) ? [beside] : [])].map((directory) => ({ product, directory })),
);

describe.each(folders)('$product, recorded in $directory', ({ directory }) => {
  it('has the same configuration bytes at each reading, and no event', async () => {
    const server = await startReplayServer({ directory });
    const { configured, readAll, events } = await givenHistory(server, server.apiKey);
    await readAll();
    const first = configured();
    await readAll();

    expect(new Set(first.map(({ object }) => object))).toEqual(
      new Set(['version', 'interface', 'certificate', 'check', 'farm', 'service', 'backend']),
    );
    expect(JSON.stringify(configured())).toBe(JSON.stringify(first));
    expect(await events()).toEqual([]);
  });
});

it('a simulated appliance has no event during a day without changes', async () => {
  let passedMs = 0;
  const now = (): number => Date.now() + passedMs;
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'canary0123456789', now });
  onTestFinished(() => appliance.close());
  const { readAll, events } = await givenHistory(appliance, 'canary0123456789', { now });
  for (let hour = 0; hour <= 24; hour += 1) {
    await readAll();
    passedMs += 3_600_000;
  }

  expect(await events()).toEqual([]);
});
