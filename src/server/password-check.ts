import { createHmac, randomBytes } from 'node:crypto';
import { WorkerClient, workerBeside } from '../lib/worker-client.ts';
import type { Secret } from '../lib/secret.ts';

interface LoginAttempt {
  readonly user: string;
  readonly password: string;
  /** The network of the client. */
  readonly from: string;
}

/** `busy`: too many comparisons wait, so this one was not made. */
type PasswordResult = 'right' | 'wrong' | 'busy';

/**
 * Checks a password and remembers right ones, so that a scrape compares once. `users` maps names to
 * bcrypt hashes and is not empty. Rejects if the comparison does.
 */
type PasswordCheck = (users: ReadonlyMap<string, Secret>, attempt: LoginAttempt) => Promise<PasswordResult>;

/**
 * The maximum number of waiting comparisons: more would finish after their clients have timed out.
 */
export const maxWaiting = 32;
/** One network that guesses passwords must not use the whole queue. */
export const maxWaitingPerNetwork = 8;

/** Right passwords that are remembered; wrong guesses cannot evict them. */
const maxRemembered = 100;

export function createPasswordCheck(thread: Pick<BcryptThread, 'request'>): PasswordCheck {
  /** Key of the HMAC of what is remembered; passwords are not kept. */
  const hmacKey = randomBytes(32);
  const rememberedDigests = new Set<string>();
  const underWay = new Map<string, { readonly from: string; readonly result: Promise<PasswordResult> }>();

  /**
   * Returns a hash to compare with for an unknown user, so that the time does not tell which users
   * exist. The choice is fixed per name, because hashes may differ in cost.
   */
  function decoyFor(user: string, users: ReadonlyMap<string, Secret>): string {
    const hashes = [...users.values()];
    const choice = createHmac('sha256', hmacKey).update(user).digest().readUInt32BE() % hashes.length;
    return hashes[choice]?.reveal() ?? '';
  }

  function isBusy(from: string): boolean {
    const ofOne = [...underWay.values()].filter((waiting) => waiting.from === from).length;
    return underWay.size >= maxWaiting || ofOne >= maxWaitingPerNetwork;
  }

  async function compareOnce(digest: string, isRight: () => Promise<boolean>): Promise<PasswordResult> {
    try {
      if (!(await isRight())) return 'wrong';
      remember(rememberedDigests, digest);
      return 'right';
    } finally {
      underWay.delete(digest);
    }
  }

  return async (users, { user, password, from }) => {
    const own = users.get(user)?.reveal();
    const hash = own ?? decoyFor(user, users);
    const facts = JSON.stringify([user, password, hash, own !== undefined]);
    const digest = createHmac('sha256', hmacKey).update(facts).digest('base64');
    if (rememberedDigests.has(digest)) {
      remember(rememberedDigests, digest);
      return 'right';
    }
    const same = underWay.get(digest);
    if (same) return await same.result;
    if (isBusy(from)) return 'busy';
    const result = compareOnce(digest, async () => (await thread.request({ password, hash })) && own !== undefined);
    underWay.set(digest, { from, result });
    return await result;
  };
}

/**
 * Adds a digest as the most recently used one, and removes the least recently used beyond the
 * limit.
 */
function remember(digests: Set<string>, digest: string): void {
  digests.delete(digest);
  digests.add(digest);
  const [oldest] = digests;
  if (digests.size > maxRemembered && oldest !== undefined) digests.delete(oldest);
}

export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

/** Compares passwords with bcrypt hashes one by one. */
export type BcryptThread = Pick<WorkerClient<Comparison, boolean>, 'request' | 'terminate'>;

/**
 * Limits of the thread; without them it may use as much memory as the flags of the process permit.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

export function createBcryptThread(): BcryptThread {
  return new WorkerClient(workerBeside(import.meta, 'bcrypt-worker'), { resourceLimits });
}
