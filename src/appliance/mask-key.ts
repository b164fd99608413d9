import { Transform } from 'node:stream';
import type { Secret } from '../lib/secret.ts';
import { spellingsOf } from './key-spellings.ts';

/**
 * Lets a body through with every occurrence of the key overwritten by asterisks, in every spelling of JSON: an appliance
 * may echo the key it was sent. No other byte changes, and the length stays, so that a Content-Length stays true.
 * Undefined when there is nothing to search for.
 */
export function maskStream(secret: Secret): Transform | undefined {
  const mask = createMask(secret);
  if (!mask) return undefined;
  // So many bytes at the end may be the beginning of the key, each of whose characters takes six bytes at most.
  const maxBeginning = secret.reveal().length * '\\u0000'.length - 1;
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // What was masked before is no longer part of a key.
      const masked = mask(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      const end = Math.max(0, masked.length - maxBeginning);
      held = masked.subarray(end);
      done(null, masked.subarray(0, end));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** The same for a body that is there as a whole; the same buffer comes back where there is nothing to overwrite. */
export function maskWhole(bytes: Buffer, secret: Secret): Buffer {
  return createMask(secret)?.(bytes) ?? bytes;
}

function createMask(secret: Secret): ((bytes: Buffer) => Buffer) | undefined {
  const spellings = spellingsOf(secret);
  if (!spellings) return undefined;
  const needle = Buffer.from(secret.reveal());
  return (bytes) => maskSpelled(maskPlain(bytes, needle), spellings);
}

function maskPlain(bytes: Buffer, needle: Buffer): Buffer {
  let at = bytes.indexOf(needle);
  if (at === -1) return bytes;
  const masked = Buffer.from(bytes);
  for (; at !== -1; at = masked.indexOf(needle, at + needle.length)) masked.fill('*', at, at + needle.length);
  return masked;
}

function maskSpelled(bytes: Buffer, spellings: RegExp): Buffer {
  if (!bytes.includes('\\')) return bytes;
  // In this encoding a character is a byte, and every byte comes back as it was.
  const text = bytes.toString('latin1');
  const masked = text.replaceAll(spellings, (found) => '*'.repeat(found.length));
  return masked === text ? bytes : Buffer.from(masked, 'latin1');
}
