import type { Secret } from '../lib/secret.ts';

/** Taking a key of a few characters out of a reply would change what the reply says; no real one is that short. */
const shortestScrubbed = 8;

/** A body without the secret, also where JSON spells it in escapes; what needs no change comes back as it was. */
export function scrubBody(text: string, secret: Secret): string {
  if (secret.reveal().length < shortestScrubbed) return text;
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
