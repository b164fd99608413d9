import type { Readable } from 'node:stream';
import { messageOf } from '../../appliance/failure.ts';
import { AdminError } from './admin-error.ts';

const mebibyte = 1_048_576;
/** Four times the exporter's default limit for a reply of an appliance; a file may be longer. */
const maxMebibytes = 32;

/** Reads a whole body; rejects with an {@link AdminError} when it is cut short, or too long for memory. */
export async function readBody(body: Readable): Promise<Buffer> {
  // One growing buffer: small chunks would each keep the much larger buffer of the socket in memory.
  let kept = Buffer.alloc(65_536);
  let size = 0;
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      const needed = size + bytes.length;
      if (needed > maxMebibytes * mebibyte) throw tooLong();
      if (needed > kept.length) kept = Buffer.concat([kept], Math.max(needed, 2 * kept.length));
      bytes.copy(kept, size);
      size = needed;
    }
  } catch (error) {
    throw error instanceof AdminError ? error : truncated(error);
  }
  return kept.subarray(0, size);
}

/** Returns the error for an answer that ended early. */
export function truncated(error: unknown): AdminError {
  return new AdminError('The answer was cut short', {
    detail: messageOf(error),
    remedy: 'What was asked for is done or under way: look before you repeat it.',
  });
}

function tooLong(): AdminError {
  return new AdminError('The answer is too long', {
    detail: `Reading ended after ${maxMebibytes} MiB.`,
    remedy:
      'What was asked for is done or under way. --output=FILE, or --json into a pipe, takes an answer of any length.',
  });
}
