import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { TornLine } from './check-file.ts';
import type { Ending } from './inspect.ts';
import { sealLine } from './line.ts';
import type { AuditRecord } from './record.ts';
import { fileBefore } from './rotated-files.ts';
import { writeFully } from './write-fully.ts';

const mostTextBytes = 4_096;
/** For what a record of the journal itself has not. */
const nobody = '-';

/** Puts a `recovered` record in the place of an unfinished last line, which it holds; on a full disk that line stays as it was. */
export async function recoverTorn(
  file: string,
  handle: FileHandle,
  { last, length, torn: { bytes } }: Ending & { readonly torn: TornLine },
  time: string,
): Promise<Ending> {
  const { buffer: torn } = await handle.read(Buffer.alloc(bytes), 0, bytes, length);
  const line = sealLine(recovered(torn), { time, last, after: fileBefore(file, last, length) });
  try {
    await replaceEnd(handle, length, line.bytes);
    await handle.datasync();
  } catch (error) {
    await replaceEnd(handle, length, torn);
    throw error;
  }
  return { last: line.position, length: length + line.bytes.length };
}

async function replaceEnd(handle: FileHandle, offset: number, bytes: Buffer): Promise<void> {
  await writeFully(handle, bytes, offset);
  await handle.truncate(offset + bytes.length);
}

function recovered(torn: Buffer): AuditRecord {
  return {
    event: 'recovered',
    request: nobody,
    principal: nobody,
    role: nobody,
    method: nobody,
    path: nobody,
    torn: {
      bytes: torn.length,
      sha256: createHash('sha256').update(torn).digest('hex'),
      text: torn.toString('utf8', 0, mostTextBytes),
    },
  };
}
