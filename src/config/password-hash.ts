import { Secret } from '../lib/secret.ts';
import type { Outcome } from './problems.ts';

/** Each step doubles the time; this one takes seconds already, and the first scrape waits for it. */
const highestCost = 16;

/** A bcrypt hash. A refusal repeats nothing: it may be the password that was put where its hash belongs. */
export function passwordHash(text: string): Outcome<Secret> {
  const [, cost] = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text) ?? [];
  if (cost === undefined || Number(cost) < 4) {
    return {
      problem:
        'is not the bcrypt hash of a password, which has 60 characters and starts with $2y$; `htpasswd -nBC 10 ""` asks for the password and prints one behind a colon',
    };
  }
  if (Number(cost) > highestCost) {
    return {
      problem: `has the cost ${Number(cost)}, with which a scrape would time out before the password is checked; make it anew with 10, at most ${highestCost}`,
    };
  }
  return { value: new Secret(text) };
}
