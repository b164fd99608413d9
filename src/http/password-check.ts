import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

export interface Attempt {
  readonly user: string;
  readonly password: string;
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
  /** More comparisons do not wait, which would answer after everybody has left. */
  readonly mostWaiting?: number;
}

/** Verdicts that are kept of each kind: strangers who guess cannot drive out who is known. */
const mostKept = 100;

export function createPasswordCheck({ compare, mostWaiting = 32 }: PasswordCheckParts): PasswordCheck {
  /** Only digests under this key are kept, which say nothing about a password. */
  const key = randomBytes(32);
  const kept = { right: new Set<string>(), wrong: new Set<string>() };
  const underWay = new Map<string, Promise<Verdict>>();

  async function find(digest: string, { password }: Attempt, hash: string, isUser: boolean): Promise<Verdict> {
    try {
      const matches = await compare(password, hash);
      const found = isUser && matches ? 'right' : 'wrong';
      keep(kept[found], digest);
      return found;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    async verdict(users, attempt) {
      const own = users.get(attempt.user)?.reveal();
      // Nobody may learn from the time it takes who is a user.
      const [decoy = ''] = [...users.values()].map((hash) => hash.reveal());
      const hash = own ?? decoy;
      const facts = JSON.stringify([attempt.user, attempt.password, hash, own !== undefined]);
      const digest = createHmac('sha256', key).update(facts).digest('base64');
      for (const known of ['right', 'wrong'] as const) {
        if (!kept[known].has(digest)) continue;
        keep(kept[known], digest);
        return known;
      }
      const same = underWay.get(digest);
      if (same) return await same;
      if (underWay.size >= mostWaiting) return 'busy';
      const finding = find(digest, attempt, hash, own !== undefined);
      underWay.set(digest, finding);
      return await finding;
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
