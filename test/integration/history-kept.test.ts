import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import type { L4Farm } from '../../simulator/world-farms.ts';
import { givenFolder } from '../support/folder.ts';
import { givenHistory } from '../support/given-history.ts';
import { fill, givenDisk, mayMount } from '../support/small-disk.ts';

const apiKey = 'canary0123456789';

async function given() {
  const world = busyWorld();
  const appliance = await startSimulatedAppliance({ world, apiKey });
  onTestFinished(() => appliance.close());
  const [backend] = (world.farms.get('db') as L4Farm).backends;
  return {
    setWeight: (weight: number) => {
      backend!.weight = weight;
    },
    start: (file?: string, now?: () => number) =>
      givenHistory(appliance, apiKey, { ...(file !== undefined && { file }), ...(now && { now }) }),
  };
}

const weights = (events: Awaited<ReturnType<Awaited<ReturnType<typeof givenHistory>>['events']>>) =>
  events.map(({ differences: [difference] }) => `${difference?.setting} ${difference?.before} -> ${difference?.after}`);

describe('a history in a file', () => {
  it('records what changed while the exporter was away for a day, between its last reading and the first', async () => {
    const { setWeight, start } = await given();
    const file = join(givenFolder(), 'new', 'history.db');
    const startMs = Date.now();
    setWeight(1);
    const before = await start(file);
    await before.readAll();
    const readMs = Date.now();
    await before.stop();
    setWeight(7);
    const after = await start(file, () => Date.now() + 86_400_000);
    await after.readAll();
    const events = await after.events();

    expect(weights(events)).toEqual(['weight 1 -> 7']);
    expect(events[0]!.sinceMs!).toBeLessThanOrEqual(readMs);
    expect(events[0]!.atMs - startMs).toBeGreaterThanOrEqual(86_400_000);
    await expect(after.metrics()).resolves.toContain('zlb_farm_configuration_changed_timestamp_seconds');
  });

  it('shows after a restart when a farm last changed, and no change that did not happen', async () => {
    const { setWeight, start } = await given();
    const file = join(givenFolder(), 'history.db');
    setWeight(1);
    const before = await start(file);
    await before.readAll();
    setWeight(2);
    await before.readAll();
    expect(weights(await before.events())).toEqual(['weight 1 -> 2']);
    const shown = (await before.metrics()).match(/^zlb_farm_configuration_changed.*$/m)?.[0];
    expect(await before.metrics()).toMatch(/changes_total\{.*object="backend",by="elsewhere"\} 1$/m);
    await before.stop();
    const after = await start(file);
    await after.readAll();
    await after.events();

    expect(shown).toContain('farm="db"');
    expect(await after.metrics()).toContain(shown);
    expect(await after.metrics()).toMatch(/changes_total\{.*object="backend",by="elsewhere"\} 0$/m);
    expect(weights(await after.events())).toEqual(['weight 1 -> 2']);
  });

  it('is readable by its own user alone, and contains no key', async () => {
    const { start } = await given();
    const file = join(givenFolder(), 'history.db');
    const { readAll, stop } = await start(file);
    await readAll();
    await stop();

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).includes(apiKey)).toBe(false);
  });

  it.each([
    ['is another file', (file: string) => writeFileSync(file, 'a list of names\n'.repeat(100))],
    ['is a folder', (file: string) => mkdirSync(file)],
  ])('is left alone when it %s: readings count as lost, with the reason logged once', async (_, make) => {
    const { start } = await given();
    const file = join(givenFolder(), 'history.db');
    make(file);
    const { readAll, events, lost, log } = await start(file);
    await readAll();
    await readAll();

    await expect(events()).rejects.toThrow(file);
    expect(await lost()).toBeGreaterThan(0);
    expect(log.filter((line) => line.includes('history cannot be written'))).toHaveLength(1);
    expect(log.join('')).toContain(dirname(file));
  });

  it.skipIf(!mayMount())('loses nothing on a full disk that a later reading shows', async () => {
    const { setWeight, start } = await given();
    const folder = givenDisk('1m');
    setWeight(1);
    const { readAll, events, found, lost, log } = await start(join(folder, 'history.db'));
    await readAll();
    expect(await found()).not.toHaveProperty('lost');
    fill(join(folder, 'filler'));
    setWeight(3);
    for (let round = 0; round < 20; round += 1) {
      setWeight(3 + (round % 5));
      await readAll();
    }
    await events().catch(() => undefined);
    expect(await lost()).toBeGreaterThan(0);
    expect(log.join('')).toContain('database or disk is full; make room');
    expect((await found()).lost).toBe(await lost());
    setWeight(9);
    await readAll();
    await events().catch(() => undefined);
    rmSync(join(folder, 'filler'));
    await readAll();

    expect(weights(await events())[0]).toMatch(/^weight \d -> 9$/);
  });
});
