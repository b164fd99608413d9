import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface Attempt extends Credentials {
  /** The network that it came from. */
  readonly from: string;
}

/** `busy`: too many comparisons wait, and nothing was found out. */
export type Verdict = 'right' | 'wrong' | 'busy';

/** Tells right passwords from wrong ones; what was found out once costs no second comparison. */
export interface PasswordCheck {
  /** `users` has bcrypt hashes, at least one; rejects when a comparison does. */
  verdict(users: ReadonlyMap<string, Secret>, attempt: Attempt): Promise<Verdict>;
}

export interface PasswordCheckParts {
  readonly compare: (password: string, hash: string) => Promise<boolean>;
}

/** More comparisons do not wait, which would answer after everybody has left. */
const mostWaiting = 32;
/** Of one network: who guesses must not keep everybody else from being compared. */
const mostWaitingFromOne = 8;

/** Verdicts that are kept of each kind: strangers who guess cannot drive out who is known. */
const mostKept = 100;

export function createPasswordCheck({ compare }: PasswordCheckParts): PasswordCheck {
  /** Only digests under this key are kept, which say nothing about a password. */
  const key = randomBytes(32);
  const kept = { right: new Set<string>(), wrong: new Set<string>() };
  const underWay = new Map<string, { readonly from: string; readonly verdict: Promise<Verdict> }>();

  /** Nobody may learn from the time it takes who is a user; where hashes differ in cost, strangers differ as users do. */
  function decoyFor(user: string, users: ReadonlyMap<string, Secret>): string {
    const hashes = [...users.values()];
    const choice = createHmac('sha256', key).update(user).digest().readUInt32BE() % hashes.length;
    return hashes[choice]?.reveal() ?? '';
  }

  function isBusy(from: string): boolean {
    const ofOne = [...underWay.values()].filter((waiting) => waiting.from === from).length;
    return underWay.size >= mostWaiting || ofOne >= mostWaitingFromOne;
  }

  async function find(digest: string, isRight: () => Promise<boolean>): Promise<Verdict> {
    try {
      const found = (await isRight()) ? 'right' : 'wrong';
      keep(kept[found], digest);
      return found;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    async verdict(users, { user, password, from }) {
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
      if (same) return await same.verdict;
      if (isBusy(from)) return 'busy';
      const verdict = find(digest, async () => (await compare(password, hash)) && own !== undefined);
      underWay.set(digest, { from, verdict });
      return await verdict;
    },
  };
}

/** The digest that was used last is the last to go. */
function keep(digests: Set<string>, digest: string): void {
  digests.delete(digest);
  digests.add(digest);
  const [oldest] = digests;
  if (digests.size > mostKept && oldest !== undefined) digests.delete(oldest);
}
