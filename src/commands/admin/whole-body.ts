import type { Readable } from 'node:stream';
import { messageOf } from '../../appliance/failure.ts';
import { AdminError } from './admin-error.ts';

const mebibyte = 1_048_576;
/** Four times what the exporter takes from an appliance unless told otherwise; a file may be longer. */
const mostMebibytes = 32;

/** Reads an answer to its end; rejects with an {@link AdminError} where it is cut short, or too long to be kept in memory. */
export async function wholeBody(body: Readable): Promise<Buffer> {
  // One piece of memory that grows: pieces of a few bytes would each hold on to the much larger one they came in.
  let kept = Buffer.alloc(65_536);
  let size = 0;
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      const needed = size + bytes.length;
      if (needed > mostMebibytes * mebibyte) throw tooLong();
      if (needed > kept.length) kept = Buffer.concat([kept], Math.max(needed, 2 * kept.length));
      bytes.copy(kept, size);
      size = needed;
    }
  } catch (error) {
    throw error instanceof AdminError ? error : cutShort(error);
  }
  return kept.subarray(0, size);
}

/** What became of an answer whose end never came. */
export function cutShort(error: unknown): AdminError {
  return new AdminError('The answer was cut short', {
    detail: messageOf(error),
    remedy: 'What was asked for is done or under way: look before you repeat it.',
  });
}

function tooLong(): AdminError {
  return new AdminError('The answer is too long', {
    detail: `Reading ended after ${mostMebibytes} MiB.`,
    remedy:
      'What was asked for is done or under way. --output=FILE, or --json into a pipe, takes an answer of any length.',
  });
}
