/**
 * A body has at most one part for so many bytes of its limit, and some more: each part costs time,
 * however short it is.
 */
export const bytesPerPart = 256;
/** Short bodies may come in any parts. */
export const freeParts = 256;
const firstBytes = 4_096;

/**
 * Collects the parts of a body in one buffer that grows. A list of the parts would cost about a
 * hundred bytes for each, so that a peer which sends single bytes fills the memory long before the
 * limit in bytes.
 */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #kept: Buffer = Buffer.alloc(0);
  #size = 0;
  #partsLeft: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#partsLeft = freeParts + maxBytes / bytesPerPart;
  }

  /**
   * Adds a part. Returns false, and adds nothing, if the body gets too long or has too many parts.
   */
  add(part: Buffer): boolean {
    const needed = this.#size + part.length;
    this.#partsLeft -= 1;
    if (needed > this.#maxBytes || this.#partsLeft < 0) return false;
    if (needed > this.#kept.length) this.#grow(Math.max(needed, firstBytes, 2 * this.#kept.length));
    part.copy(this.#kept, this.#size);
    this.#size = needed;
    return true;
  }

  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#size);
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(length);
    this.#kept.copy(grown, 0, 0, this.#size);
    this.#kept = grown;
  }
}

/**
 * Reads a source to its end. Throws the error of `tooLong` for more than `maxBytes`, or for too
 * many parts; the caller decides what becomes of the source then.
 */
export async function readWhole(
  source: AsyncIterable<unknown>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const whole = new GrowingBuffer(maxBytes);
  for await (const part of source) if (!whole.add(part as Buffer)) throw tooLong();
  return whole.bytes;
}
