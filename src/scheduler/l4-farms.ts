import type { FarmReadKey, Params, ReplyOf } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { daemonMayHang, type HarmlessFarm, onPurpose, profilesIn, unlessL4 } from '../appliance/harmless.ts';
import type { FarmFact, ReadFrom } from '../collectors/collector.ts';

/** A farm that is made again under its name may have another profile; its daemon runs then. */
const maxAgeMs = 10_000;

type Profiles = ReturnType<typeof profilesIn> | 'refused';

/**
 * Keeps the reads that act on L4 farms from L4 farms (docs/api.md §1.7), and decides whether their
 * daemon may be asked on purpose.
 */
export class L4Farms {
  readonly #parts: { readonly asksDaemon: boolean; readonly age: () => number };
  #newest: { readonly atMs: number; readonly profiles: Promise<Profiles> } | undefined;
  /** The state that a farm had when its daemon did not answer. */
  readonly #unanswered = new Map<string, string>();

  constructor(parts: { readonly asksDaemon: boolean; readonly age: () => number }) {
    this.#parts = parts;
  }

  /** Forgets the profiles, after a change of farms. */
  changed(): void {
    this.#newest = undefined;
  }

  /**
   * Resolves to the name of a farm that is no L4 farm, by a summary of the last seconds. That call
   * reads files alone; an appliance that refuses it is taken at the word of its list.
   */
  async unlessL4(read: ReadFrom, { name, profile }: FarmFact): Promise<HarmlessFarm | undefined> {
    if (profile === 'l4xnat') return undefined;
    const newest = await this.#newestOf(read);
    return unlessL4(name, newest === 'refused' ? profile : newest?.get(name));
  }

  /** Asks the daemon about an L4 farm. After a call without an answer, waits for another state. */
  async ask<Key extends FarmReadKey>(read: ReadFrom, key: Key, farm: FarmFact): Promise<ReplyOf<Key> | undefined> {
    const { name, profile, state } = farm;
    if (!this.#parts.asksDaemon || profile !== 'l4xnat' || this.#unanswered.get(name) === state) return undefined;
    this.#unanswered.delete(name);
    try {
      return await read(key, { farmname: onPurpose(name) } as Params<Key>);
    } catch (error) {
      if (!(error instanceof ApplianceError) || !['timeout', 'gateway_timeout'].includes(error.reason)) throw error;
      this.#unanswered.set(name, state);
      const { reason, endpoint, message } = error;
      const notAgain = 'it is not asked again before its state changes';
      throw new ApplianceError(reason, { endpoint, message: `${message}; ${daemonMayHang}, and ${notAgain}` });
    }
  }

  #newestOf(read: ReadFrom): Promise<Profiles> {
    const { age } = this.#parts;
    if (this.#newest && age() - this.#newest.atMs < maxAgeMs) return this.#newest.profiles;
    const newest = { atMs: age(), profiles: profilesOf(read) };
    this.#newest = newest;
    newest.profiles.catch(() => {
      if (this.#newest === newest) this.#newest = undefined;
    });
    return newest.profiles;
  }
}

async function profilesOf(read: ReadFrom): Promise<Profiles> {
  try {
    return profilesIn(await read('readFarmsSummary', {}));
  } catch (error) {
    if (error instanceof ApplianceError && (error.reason === 'forbidden' || error.routeMissing)) return 'refused';
    throw error;
  }
}
