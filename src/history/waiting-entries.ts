import type { Entry } from './store.ts';

/** The most bytes that wait for the thread. */
const maxBytes = 16_777_216;
/** What an entry takes besides its texts. */
const entryBytes = 512;

interface OfAppliance {
  readonly entries: Entry[];
  bytes: number;
}

/** The entries that wait to be written, in their order for each appliance. */
export class WaitingEntries {
  readonly #all = new Map<string, OfAppliance>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /**
   * Adds an entry of so many bytes. If all take too much, the appliance with the most loses what
   * waits of it: returns its name, and how many entries those are.
   */
  add(
    entry: Entry,
    appliance: string,
    textBytes: number,
  ): { readonly appliance: string; readonly lost: number } | undefined {
    const bytes = textBytes + entryBytes;
    const own = this.#all.get(appliance) ?? { entries: [], bytes: 0 };
    this.#all.set(appliance, own);
    own.entries.push(entry);
    own.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= maxBytes) return undefined;
    const [[name, { entries, bytes: freed }] = [appliance, own]] = [...this.#all].toSorted(
      ([, one], [, other]) => other.bytes - one.bytes,
    );
    this.#all.delete(name);
    this.#bytes -= freed;
    return { appliance: name, lost: entries.length };
  }

  /** Returns all, and forgets them. */
  take(): readonly Entry[] {
    const entries = [...this.#all.values()].flatMap((each) => each.entries);
    this.#all.clear();
    this.#bytes = 0;
    return entries;
  }
}
