import { configuredKinds } from '../collectors/configured.ts';
import { counter, type Family, gauge } from '../metrics/family.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { objectKey } from './differences.ts';
import { outsideGateway, type NewEvent } from './event.ts';

const changesFamily = counter(
  'zlb_configuration_changes_total',
  'Objects whose configuration changed between two readings, by author: gateway, or elsewhere if it may have been somebody else (this exporter).',
  ['object', 'by'],
);
const lastChangedFamily = gauge(
  'zlb_farm_configuration_changed_timestamp_seconds',
  'Unix time at which the configuration of a farm was last seen to change; absent if it never did (this exporter).',
  ['farm'],
);

export const changeFamilies: readonly Family[] = [changesFamily, lastChangedFamily];

const authors = ['gateway', outsideGateway] as const;
const storeKey = 'history';
/** The most farms of a list; an appliance may list different ones each time. */
const maxFarms = 2_500;

export class ConfigurationChangeCounts {
  readonly #appliance: string;
  readonly #store: Pick<MetricsStore, 'put'>;
  readonly #counts = new Map<string, number>();
  /** Unix milliseconds by farm. */
  readonly #farms = new Map<string, number>();

  constructor(appliance: string, store: Pick<MetricsStore, 'put'>) {
    this.#appliance = appliance;
    this.#store = store;
  }

  add(changes: readonly NewEvent[]): void {
    for (const each of changes) this.#count(each);
    for (const farm of [...this.#farms.keys()].slice(0, -maxFarms)) this.#farms.delete(farm);
    this.publish();
  }

  #count({ by, atMs, differences }: NewEvent): void {
    const author = by?.startsWith(outsideGateway) ? outsideGateway : 'gateway';
    const objects = new Map(differences.map((each) => [objectKey(each), each.object]));
    for (const object of objects.values()) {
      const key = `${object} ${author}`;
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
    for (const { object, farm, name, setting, after } of differences) {
      if (farm === '') continue;
      this.#farms.set(farm, atMs);
      if (object !== 'farm') continue;
      if (after === undefined || setting === 'name') this.#farms.delete(name);
      if (setting === 'name' && after !== undefined) this.#farms.set(after, atMs);
    }
  }

  /** Adds the time of a change before this start. */
  addEarlierChange(farm: string, atMs: number): void {
    this.#farms.set(farm, Math.max(atMs, this.#farms.get(farm) ?? 0));
  }

  publish(): void {
    const filled = fillRegistry(this.#appliance, (emit) => {
      // From 0, so that the first change is a difference.
      for (const object of configuredKinds)
        for (const by of authors) emit.sample(changesFamily, { object, by }, this.#counts.get(`${object} ${by}`) ?? 0);
      for (const [farm, atMs] of this.#farms) emit.sample(lastChangedFamily, { farm }, atMs / 1_000);
    });
    this.#store.put(this.#appliance, storeKey, filled);
  }
}
