import { sleep } from '../../src/lib/time.ts';
import { createCanarySearch } from './canaries.ts';
import { createRandom } from '../random.ts';
import { type Rudeness, rudenesses, type Target } from './rude-clients.ts';
import { answerCalls } from '../worker.ts';

/** The actions of the clients of a soak, and the answers. */
export interface ClientReport {
  /** How often each kind of client came. */
  readonly counts: Readonly<Record<string, number>>;
  /** How often each status was the first of an answer. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly leaks: readonly string[];
}

export interface ClientOrders extends Target {
  readonly seed: number;
  /** How many clients come at the same time. */
  readonly atATime: number;
  readonly secrets: readonly string[];
}

export type ClientCalls = typeof calls;

const leaving = new AbortController();
const counts: Record<string, number> = {};
const statuses: Record<string, number> = {};
const leaks: string[] = [];
let clients: Promise<unknown> = Promise.resolve();

const calls = {
  start({ seed, atATime, secrets, ...target }: ClientOrders): void {
    const search = createCanarySearch(secrets);
    const random = createRandom(seed);
    const kinds: readonly (readonly [string, Rudeness])[] = Object.entries(rudenesses);

    async function comeAgain(): Promise<void> {
      while (!leaving.signal.aborted) {
        const [kind, behave] = random.pick(kinds);
        counts[kind] = (counts[kind] ?? 0) + 1;
        const text = await behave(target, random, leaving.signal);
        const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'none';
        statuses[status] = (statuses[status] ?? 0) + 1;
        const leak = search.findIn(text);
        if (leak !== undefined && leaks.length < 100) leaks.push(`${kind}: ${leak}`);
        await sleep(random.between(0, 200), leaving.signal).catch(() => undefined);
      }
    }

    clients = Promise.all(Array.from({ length: atATime }, comeAgain));
  },
  /** Sends them home and tells what they did. */
  async finish(): Promise<ClientReport> {
    leaving.abort();
    await clients;
    return { counts, statuses, leaks };
  },
};

answerCalls(calls);
