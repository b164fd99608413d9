import type { Farm } from '../appliance/farm.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { type SafeFarmName, profilesIn, safeFarmName } from '../appliance/safe-farm-name.ts';
import type { Read } from '../collectors/collector.ts';
import type { FarmList } from '../collectors/farms.ts';
import type { FarmsSummary } from '../collectors/summary.ts';
import type { Reading } from '../state/reading.ts';

/**
 * A list that is older proves nothing: a farm that was made again under its name may have another
 * profile. docs/architecture.md says why it may be so old.
 */
const provesForMs = 60_000;

type Profiles = ReturnType<typeof profilesIn> | 'refused';

export interface L4FarmsParts {
  readonly elapsedNow: () => number;
  /** Returns the newest lists that were read for other purposes. */
  readonly listed: () => readonly Pick<Reading<FarmList | FarmsSummary>, 'askedAtElapsedMs' | 'data'>[];
}

/** Lets no read with a side effect on L4 farms name one (docs/api.md §1.7). */
export class L4Farms {
  readonly #parts: L4FarmsParts;
  #changedAtElapsedMs = Number.NEGATIVE_INFINITY;
  /** The summary that was read because no list was new enough. */
  #summary: { readonly atElapsedMs: number; readonly profiles: Promise<Profiles> } | undefined;

  constructor(parts: L4FarmsParts) {
    this.#parts = parts;
  }

  forgetProfiles(): void {
    this.#changedAtElapsedMs = this.#parts.elapsedNow();
    this.#summary = undefined;
  }

  /**
   * Resolves to the name of a farm that is not an L4 farm by a list of the last minute. If there is
   * none, reads the summary, which reads files alone; an appliance that refuses it is taken at the
   * word of its list. A farm is not asked if two lists differ.
   */
  async safeFarmName(read: Read, { name, profile }: Farm): Promise<SafeFarmName | undefined> {
    if (profile === 'l4xnat') return undefined;
    const listed = this.#listedAs(name);
    if (listed.some(({ farm }) => !farm)) return undefined;
    const known = listed.find(({ ageMs }) => ageMs < provesForMs);
    if (known) return known.farm;
    const summary = await this.#readSummary(read);
    return safeFarmName(name, summary === 'refused' ? profile : summary?.get(name));
  }

  /**
   * Returns what the lists say of a farm. An entry as an L4 farm counts for longer, so that it
   * holds until that list is read again.
   */
  #listedAs(name: string) {
    const nowElapsedMs = this.#parts.elapsedNow();
    return this.#parts.listed().flatMap(({ askedAtElapsedMs, data }) => {
      const profile = data.farms.find((farm) => farm.name === name)?.profile;
      const ageMs = nowElapsedMs - askedAtElapsedMs;
      if (!profile || askedAtElapsedMs < this.#changedAtElapsedMs || ageMs >= 2 * provesForMs) return [];
      return [{ farm: safeFarmName(name, profile), ageMs }];
    });
  }

  #readSummary(read: Read): Promise<Profiles> {
    const { elapsedNow } = this.#parts;
    if (this.#summary && elapsedNow() - this.#summary.atElapsedMs < provesForMs) return this.#summary.profiles;
    const summary = { atElapsedMs: elapsedNow(), profiles: profilesOf(read) };
    this.#summary = summary;
    summary.profiles.catch(() => {
      if (this.#summary === summary) this.#summary = undefined;
    });
    return summary.profiles;
  }
}

async function profilesOf(read: Read): Promise<Profiles> {
  try {
    return profilesIn(await read('readFarmsSummary', {}));
  } catch (error) {
    if (error instanceof ApplianceError && (error.reason === 'forbidden' || error.routeMissing)) return 'refused';
    throw error;
  }
}
