import { oneLine } from '../../lib/text.ts';
import type { AdminSession } from './session.ts';

interface Change {
  /** `actOnFarm on lb-1`. */
  readonly title: string;
  /** The name that the caller has not confirmed yet; only for a call that cannot be undone. */
  readonly unconfirmed?: string | undefined;
}

/** Resolves to true when a change may be sent. Otherwise it has printed the reason and the remedy. */
export async function isAgreed(
  { title, unconfirmed }: Change,
  { flags, shell, warn }: Pick<AdminSession, 'flags' | 'shell' | 'warn'>,
): Promise<boolean> {
  const what = oneLine(title, 200);
  const name = unconfirmed === undefined ? undefined : oneLine(unconfirmed, 200);
  if (flags.yes === true && name === undefined) return true;
  // Standard input is at its end, so it cannot bring an answer.
  if (flags.body === '-' || !shell.ask) {
    const because =
      flags.body === '-'
        ? 'standard input is the body, so your agreement cannot be asked for'
        : 'no terminal is there to ask for your agreement';
    const missing = [...(name === undefined ? [] : [`--confirm=${name}`]), '--yes'].join(' ');
    warn(`Nothing was done: ${because}; repeat it with ${missing}.`);
    return false;
  }
  if (name === undefined) {
    const agreed = /^y(?:es)?$/i.test((await shell.ask(`\nGo on with ${what}? [y/N] `)).trim());
    if (!agreed) warn('Nothing was done.');
    return agreed;
  }
  const typed = await shell.ask(`\n${what} cannot be undone. Type ${name} to go on: `);
  if (typed.trim() === unconfirmed) return true;
  warn(`Nothing was done: that is not ${name}.`);
  return false;
}
