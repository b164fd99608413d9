import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** Replaces a secret in a text. */
export const redacted = '[redacted]';

/** Replaces a text that looks like a secret; says how much is hidden. */
export function redactedCharacters(count: number): string {
  return `[redacted ${count} character${count === 1 ? '' : 's'}]`;
}

/** Shorter secrets would match unrelated text; no real one is that short. */
export const minFindableLength = 8;

/** A value that prints, logs and serialises as `[redacted]`; only `reveal()` gives it away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the secret itself. Call it only where the secret goes on the wire. */
  reveal(): string {
    return this.#value;
  }

  /** Compares in constant time, whatever the lengths. */
  equals(other: string): boolean {
    return timingSafeEqual(digest(this.#value), digest(other));
  }

  /** Removes the secret from an untrusted text, such as an error message that echoes the key. */
  scrub(text: string): string {
    return this.#value === '' ? text : text.replaceAll(this.#value, redacted);
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
