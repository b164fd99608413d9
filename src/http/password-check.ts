import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface LoginAttempt extends Credentials {
  /** The network of the client. */
  readonly from: string;
}

/** `busy`: too many comparisons wait, so this one was not made. */
export type PasswordResult = 'right' | 'wrong' | 'busy';

/** Checks passwords and remembers results, so that the same attempt is compared once. */
export interface PasswordCheck {
  /** `users` maps names to bcrypt hashes and is not empty. Rejects if the comparison does. */
  check(users: ReadonlyMap<string, Secret>, attempt: LoginAttempt): Promise<PasswordResult>;
}

export interface PasswordCheckParts {
  readonly compare: (password: string, hash: string) => Promise<boolean>;
}

/** Further comparisons would finish after their clients have timed out. */
const maxWaiting = 32;
/** One network that guesses passwords must not use the whole queue. */
const maxWaitingPerNetwork = 8;

/** Remembered results of each kind, kept apart: wrong guesses cannot evict right passwords. */
const maxRemembered = 100;

export function createPasswordCheck({ compare }: PasswordCheckParts): PasswordCheck {
  /** Key of the HMAC under which results are remembered; passwords are not kept. */
  const key = randomBytes(32);
  const kept = { right: new Set<string>(), wrong: new Set<string>() };
  const underWay = new Map<string, { readonly from: string; readonly result: Promise<PasswordResult> }>();

  /**
   * Returns a hash to compare with for an unknown user, so that the time does not tell which users
   * exist. The choice is fixed per name, because hashes may differ in cost.
   */
  function decoyFor(user: string, users: ReadonlyMap<string, Secret>): string {
    const hashes = [...users.values()];
    const choice = createHmac('sha256', key).update(user).digest().readUInt32BE() % hashes.length;
    return hashes[choice]?.reveal() ?? '';
  }

  function isBusy(from: string): boolean {
    const ofOne = [...underWay.values()].filter((waiting) => waiting.from === from).length;
    return underWay.size >= maxWaiting || ofOne >= maxWaitingPerNetwork;
  }

  async function find(digest: string, isRight: () => Promise<boolean>): Promise<PasswordResult> {
    try {
      const found = (await isRight()) ? 'right' : 'wrong';
      keep(kept[found], digest);
      return found;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    async check(users, { user, password, from }) {
      const own = users.get(user)?.reveal();
      const hash = own ?? decoyFor(user, users);
      const facts = JSON.stringify([user, password, hash, own !== undefined]);
      const digest = createHmac('sha256', key).update(facts).digest('base64');
      for (const known of ['right', 'wrong'] as const) {
        if (!kept[known].has(digest)) continue;
        keep(kept[known], digest);
        return known;
      }
      const same = underWay.get(digest);
      if (same) return await same.result;
      if (isBusy(from)) return 'busy';
      const result = find(digest, async () => (await compare(password, hash)) && own !== undefined);
      underWay.set(digest, { from, result });
      return await result;
    },
  };
}

/**
 * Adds a digest as the most recently used one, and removes the least recently used beyond the
 * limit.
 */
function keep(digests: Set<string>, digest: string): void {
  digests.delete(digest);
  digests.add(digest);
  const [oldest] = digests;
  if (digests.size > maxRemembered && oldest !== undefined) digests.delete(oldest);
}
