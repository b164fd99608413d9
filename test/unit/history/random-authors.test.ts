import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import { authorOf, splitReplacements } from '../../../src/history/authors.ts';
import { inMemory } from '../../../src/history/database.ts';
import { compareConfigured, toDifference } from '../../../src/history/differences.ts';
import type { Difference } from '../../../src/history/event.ts';
import { type ConfiguredReading, HistoryStore, type StoredCall } from '../../../src/history/store.ts';
import { RandomAppliance } from './random-history.ts';

const people = ['alice', 'bob', 'carol', 'elsewhere'] as const;

interface Deed {
  readonly atMs: number;
  readonly by: string;
  readonly writes: Readonly<Record<string, string>>;
}

type Noticed = { readonly call: StoredCall } | { readonly reading: ConfiguredReading };

interface Told {
  readonly by: string;
  /** When the reading came that shows it. */
  readonly atMs: number;
  readonly difference: Difference;
}

function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes changes of four people, some at the same time, and readings among them, by one number. */
class RandomHistory {
  readonly appliance: string;
  readonly deeds: Deed[] = [];
  readonly #random: () => number;
  readonly #world: RandomAppliance;
  readonly #noticed: [number, Noticed][] = [];
  /** When the objects of a reading and of the one before were so, by the time when it came. */
  readonly #seen = new Map<number, { readonly sinceMs: number; readonly atMs: number }>();
  readonly #lastSeen = new Map<string, number>();
  readonly #lastRead = new Map<string, { readonly text: string; readonly askedMs: number; readonly cameMs: number }>();
  #listed: readonly string[] = [];

  constructor(seed: number) {
    this.appliance = `lb${seed}`;
    this.#random = numbersOf(seed);
    this.#world = new RandomAppliance(this.#random);
    const timeline: [number, (atMs: number) => void][] = [];
    const count = this.#within(3, 14);
    for (let index = 0; index < count; index += 1)
      timeline.push([index * 1_000 + this.#within(400, 600), (atMs) => this.#act(atMs, index)]);
    for (let listMs = -5_000; listMs < count * 1_000 + 2_000; listMs += this.#within(700, 4_000)) {
      timeline.push([listMs, (atMs) => this.#read(atMs)]);
      for (let slot = 0; slot < 4; slot += 1)
        timeline.push([listMs + this.#within(210, 650), (atMs) => this.#readFarm(atMs, slot)]);
    }
    for (const [atMs, happens] of timeline.toSorted(([one], [other]) => one - other)) happens(atMs);
  }

  /** Returns what the history is told, in the order of time. */
  get noticed(): readonly Noticed[] {
    return this.#noticed.toSorted(([one], [other]) => one - other).map(([, entry]) => entry);
  }

  /** Returns true if one of those can have made a difference who are named as its author. */
  isRight({ by, atMs, difference }: Told): boolean {
    const named = by.split(' or ').map((each) => each.replace(/^call \d+ by /, ''));
    const { sinceMs, atMs: untilMs } = this.#seen.get(atMs)!;
    const keys = this.#world.keysOf(difference);
    return this.deeds.some(
      (deed) =>
        deed.atMs > sinceMs &&
        deed.atMs <= untilMs &&
        named.includes(deed.by) &&
        keys.some(([key, value]) => deed.writes[key] === value),
    );
  }

  #within(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from));
  }

  #readFarm(atMs: number, slot: number): void {
    const farm = this.#listed[slot];
    if (farm !== undefined) this.#read(atMs, farm);
  }

  #read(atMs: number, farm?: string): void {
    const objects = this.#world.read(farm);
    if (!objects) return;
    if (farm === undefined) this.#listed = this.#world.farms;
    const askedMs = atMs - this.#within(0, 200);
    let cameMs = atMs + this.#within(0, 200);
    while (this.#seen.has(cameMs)) cameMs += 1;
    // A farm keeps its number when it is renamed.
    const number = farm === undefined ? '' : this.#world.numberOf(farm);
    this.#seen.set(cameMs, { sinceMs: this.#lastSeen.get(number) ?? Number.NEGATIVE_INFINITY, atMs });
    this.#lastSeen.set(number, atMs);
    const [place, text] = [farm ?? '', JSON.stringify(objects)];
    const last = this.#lastRead.get(place);
    this.#lastRead.set(place, { text, askedMs, cameMs });
    if (text === last?.text) return;
    const collector = farm === undefined ? 'farms' : 'farm_config';
    const before = { previousAskedMs: last?.askedMs, previousCameMs: last?.cameMs };
    const { appliance } = this;
    const reading = { appliance, collector, farm: place, scope: '', askedMs, cameMs, ...before, objects: text };
    this.#noticed.push([cameMs, { reading }]);
  }

  #act(atMs: number, index: number): void {
    const by = people[this.#within(0, people.length)] ?? 'elsewhere';
    const { call, apply, writes } = this.#world.action(by === 'elsewhere');
    const chance = by === 'elsewhere' ? 1 : this.#random();
    const ended = chance < 0.1 ? 'refused' : chance < 0.2 ? 'unanswered' : 'done';
    if (ended !== 'refused') apply();
    if (ended !== 'refused') this.deeds.push({ atMs, by, writes });
    if (by === 'elsewhere') return;
    const { appliance } = this;
    const fromMs = atMs - this.#within(0, 400);
    const stored = { ...call, appliance, by: `call ${index} by ${by}`, id: `${appliance} ${index}`, fromMs };
    const endMs = atMs + this.#within(0, 390);
    const untilMs = endMs + (ended === 'unanswered' ? 600_000 : 0);
    this.#noticed.push([fromMs, { call: stored }], [endMs, { call: { ...stored, ended, untilMs } }]);
  }
}

/** Tells what changed as the history does, without the costs of its database. */
function toldOf(noticed: readonly Noticed[]): readonly Told[] {
  const calls = new Map<string, StoredCall>();
  const readings = new Map<string, { readonly askedMs: number; readonly objects: readonly ConfiguredObject[] }>();
  const formerNames = new Map<string, string>();
  return noticed.flatMap((entry) => {
    if ('call' in entry) calls.set(entry.call.id, entry.call);
    if ('call' in entry) return [];
    const { farm, askedMs, cameMs: atMs, previousAskedMs, previousCameMs, objects: text } = entry.reading;
    const objects = JSON.parse(text) as readonly ConfiguredObject[];
    const before = readings.get(farm);
    readings.set(farm, { askedMs, objects });
    if (!before) return [];
    const sinceMs = previousAskedMs ?? before.askedMs;
    const names = new Set([farm]);
    for (let name = formerNames.get(farm); name !== undefined; name = formerNames.get(name)) names.add(name);
    const during = [...calls.values()]
      .filter(({ fromMs, untilMs = atMs }) => fromMs <= atMs && untilMs >= sinceMs)
      .toSorted((one, other) => other.fromMs - one.fromMs)
      .map(({ params, ...made }) => ({
        ...made,
        params: farm && names.has(params.farmname ?? '') ? { ...params, farmname: farm } : params,
        isBetween: made.fromMs >= (previousCameMs ?? sinceMs) && (made.untilMs ?? askedMs + 1) <= askedMs,
      }));
    return splitReplacements(compareConfigured(before.objects, objects), during).map((difference) => {
      const { object, setting, name, after } = difference;
      const known = readings.get(name);
      if (object === 'farm' && setting === 'name' && after !== undefined && known) {
        formerNames.set(after, name);
        const renamed = known.objects.map((each) => ({
          ...each,
          ...(each.farm && { farm: after }),
          ...(each.object === 'farm' && { name: after }),
        }));
        readings.set(after, { ...known, objects: renamed });
      }
      if (object === 'farm' && (after === undefined || setting === 'name')) readings.delete(name);
      return { by: authorOf(difference, during), atMs, difference: toDifference(difference) };
    });
  });
}

it('no difference in 2,000 random histories names people who did not make it', () => {
  let [differences, ofSeveral] = [0, 0];
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const history = new RandomHistory(seed);
      const told = toldOf(history.noticed);
      differences += told.length;
      ofSeveral += told.filter(({ by }) => by.includes(' or ')).length;
      expect(told.filter((each) => !history.isRight(each))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );

  expect(differences).toBeGreaterThan(10_000);
  expect(ofSeveral / differences).toBeLessThan(0.25);
});

it('the history reports the same for 100 of the random histories, with the authors', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const store = new HistoryStore(inMemory);
      const { noticed } = new RandomHistory(seed);
      // Each farm that uses a health check shows it, and the history tells it once.
      const plain = (told: readonly Told[]): readonly string[] =>
        told
          .filter(({ difference }) => difference.object !== 'check')
          .map((each) => JSON.stringify([each.by, each.difference]))
          .toSorted();
      const events = store.write(noticed);
      store.close();
      const told = events.flatMap(({ by = '', atMs, differences }) =>
        differences.map((difference) => ({ by, atMs, difference })),
      );
      expect(plain(told)).toEqual(plain(toldOf(noticed)));
    }),
    { numRuns: 100 },
  );
});
