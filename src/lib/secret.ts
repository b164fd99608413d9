import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** Stands where a secret stood. */
export const redacted = '[redacted]';

/** A secret of fewer characters would be found where it is not meant; no real one is that short. */
export const shortestFindable = 8;

/** A value that prints, logs and serialises as `[redacted]`; only `reveal()` gives it away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself. Call it where it goes on the wire and nowhere else. */
  reveal(): string {
    return this.#value;
  }

  /** Compares in constant time, whatever the lengths. */
  equals(other: string): boolean {
    return timingSafeEqual(digest(this.#value), digest(other));
  }

  /** Takes the secret out of a text that came from outside, such as an error message that echoes the key. */
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
