import type { Entry } from './store.ts';

/** The most bytes in the queue. */
const maxBytes = 16_777_216;
/** The memory of an entry besides its texts. */
const entryBytes = 512;

interface ApplianceQueue {
  readonly entries: Entry[];
  bytes: number;
}

/** Holds the entries that wait to be written, in order for each appliance. */
export class EntryQueue {
  readonly #queues = new Map<string, ApplianceQueue>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /**
   * Adds an entry. Above the limit, all entries of the appliance with the most bytes are dropped, and
   * its name and their number are returned.
   */
  add(
    entry: Entry,
    appliance: string,
    textBytes: number,
  ): { readonly appliance: string; readonly dropped: number } | undefined {
    const bytes = textBytes + entryBytes;
    const queue = this.#queues.get(appliance) ?? { entries: [], bytes: 0 };
    this.#queues.set(appliance, queue);
    queue.entries.push(entry);
    queue.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= maxBytes) return undefined;
    const [[name, { entries, bytes: freed }] = [appliance, queue]] = [...this.#queues].toSorted(
      ([, one], [, other]) => other.bytes - one.bytes,
    );
    this.#queues.delete(name);
    this.#bytes -= freed;
    return { appliance: name, dropped: entries.length };
  }

  /** Empties the queue, and returns its entries. */
  take(): readonly Entry[] {
    const entries = [...this.#queues.values()].flatMap((each) => each.entries);
    this.#queues.clear();
    this.#bytes = 0;
    return entries;
  }
}
