import { type Secret, shortestFindable } from '../lib/secret.ts';

/** A body without the secret, also where JSON spells it in escapes; what needs no change comes back as it was. */
export function scrubBody(text: string, secret: Secret): string {
  if (secret.reveal().length < shortestFindable) return text;
  const plain = secret.scrub(text);
  if (!plain.includes('\\')) return plain;
  let found = false;
  try {
    const body: unknown = JSON.parse(plain, (_, value: unknown) => {
      if (typeof value !== 'string') return value;
      const clean = secret.scrub(value);
      found ||= clean !== value;
      return clean;
    });
    return found ? JSON.stringify(body) : plain;
  } catch {
    // No JSON has no escapes.
    return plain;
  }
}
