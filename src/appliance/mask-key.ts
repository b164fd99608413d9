import { Transform } from 'node:stream';
import { type Secret, shortestFindable } from '../lib/secret.ts';

/**
 * Lets a body through with every occurrence of the secret overwritten by asterisks: an appliance may echo the key it was
 * sent. The length stays, so that a Content-Length stays true; undefined when there is nothing to look for.
 */
export function maskStream(secret: Secret): Transform | undefined {
  const needle = needleOf(secret);
  if (!needle) return undefined;
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const seen = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const masked = mask(seen, needle);
      // The end may be the beginning of the secret; what was masked is no longer part of it.
      const keep = lengthOfBeginning(masked, needle);
      held = masked.subarray(masked.length - keep);
      done(null, masked.subarray(0, masked.length - keep));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** The same for a body that is there as a whole; the same buffer comes back where there is nothing to overwrite. */
export function maskWhole(bytes: Buffer, secret: Secret): Buffer {
  const needle = needleOf(secret);
  return needle ? mask(bytes, needle) : bytes;
}

function needleOf(secret: Secret): Buffer | undefined {
  const needle = Buffer.from(secret.reveal());
  return needle.length < shortestFindable ? undefined : needle;
}

function mask(bytes: Buffer, needle: Buffer): Buffer {
  let at = bytes.indexOf(needle);
  if (at === -1) return bytes;
  const masked = Buffer.from(bytes);
  for (; at !== -1; at = masked.indexOf(needle, at + needle.length)) masked.fill('*', at, at + needle.length);
  return masked;
}

/** How many bytes at the end could be where the secret begins. */
function lengthOfBeginning(bytes: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length -= 1)
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  return 0;
}
