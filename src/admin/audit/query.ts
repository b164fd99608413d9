import type { FileHandle } from 'node:fs/promises';
import { errorCode } from '../../lib/check.ts';
import { openRegularFile } from '../../lib/regular-file.ts';
import { readLine } from './line.ts';
import type { AuditEvent, AuditLine } from './record.ts';
import { rotatedFiles } from './rotated-files.ts';
import { linesFromEnd } from './scan.ts';

/** The filters of a query; omitted ones match everything. */
export interface AuditQuery {
  readonly limit: number;
  readonly principal?: string | undefined;
  readonly appliance?: string | undefined;
  readonly operation?: string | undefined;
  readonly event?: AuditEvent | undefined;
  /** Returns true if the caller may see a line. */
  readonly maySee?: (line: AuditLine) => boolean;
}

/**
 * The newest lines that fit, the newest first; of the current file those before `end`. Nothing is
 * checked here: what does not read as a line is left out, and it is for `audit verify` to say so.
 */
export async function queryAudit(
  file: string,
  { limit, ...wanted }: AuditQuery,
  end: number,
): Promise<readonly AuditLine[]> {
  const found: AuditLine[] = [];
  let newest = Number.POSITIVE_INFINITY;
  const read = async (handle: FileHandle | undefined, most: number): Promise<void> => {
    if (!handle) return;
    try {
      for await (const bytes of linesFromEnd(handle, Math.min(most, (await handle.stat()).size))) {
        if (found.length >= limit) return;
        const line = readLine(bytes);
        // A file that was put aside in between would come twice.
        if (!line || line.seq >= newest) continue;
        newest = line.seq;
        if (fits(line, wanted)) found.push(line);
      }
    } finally {
      await handle.close();
    }
  };
  await read(await openIfThere(file), end);
  for (const { path } of [...(await rotatedFiles(file))].reverse()) {
    if (found.length >= limit) break;
    await read(await openIfThere(path), Number.POSITIVE_INFINITY);
  }
  return found;
}

function fits(line: AuditLine, wanted: Omit<AuditQuery, 'limit'>): boolean {
  const { principal, appliance, operation, event, maySee } = wanted;
  return (
    (principal === undefined || line.principal === principal) &&
    (appliance === undefined || line.appliance === appliance) &&
    (operation === undefined || line.operation === operation) &&
    (event === undefined || line.event === event) &&
    (maySee?.(line) ?? true)
  );
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await openRegularFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
