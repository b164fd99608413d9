import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../lib/regular-file.ts';
import { brokenAudit } from './audit-error.ts';
import { createChain } from './chain.ts';
import { checkFile, type TornLine } from './check-file.ts';
import { createHeadCheck } from './head-check.ts';
import { type FoundHead, headPath } from './kept-head.ts';
import { genesis, readLine } from './line.ts';
import type { AuditLine, AuditPosition } from './record.ts';
import { rotatedFiles } from './rotated-files.ts';
import { scanLines } from './scan.ts';
import { createUnfinished } from './unfinished.ts';

/** Where an audit on disk can be gone on with. */
export interface Ending {
  readonly last: AuditPosition;
  /** Bytes of the current file up to the end of its last finished line. */
  readonly length: number;
}

export interface Found extends Ending {
  readonly torn?: TornLine;
  /** Ids of requests without an outcome in the current file and the one before it. */
  readonly unfinished: readonly string[];
}

/**
 * Checks the current file against itself, the file before it, the head kept apart and the position that this process
 * itself remembers; rejects with an AuditError when anything does not fit.
 */
export async function inspect(
  file: string,
  handle: FileHandle,
  head: FoundHead,
  known: AuditPosition | undefined,
): Promise<Found> {
  const unfinished = createUnfinished();
  const before = await readFileBefore(file, unfinished.pass);
  const chain = createChain(before);
  const headCheck = createHeadCheck(head, before ?? genesis);
  const ownCheck = createHeadCheck(known ?? 'none', before ?? genesis);
  const { faults, torn, length } = await checkFile(handle, chain, (line) => {
    headCheck.pass(line);
    ownCheck.pass(line);
    unfinished.pass(line);
  });

  const [fault] = faults;
  if (fault) throw brokenAudit(file, `line ${fault.line} of it ${fault.what}`);
  const { seq, hash } = chain.last ?? genesis;
  const headFault = headCheck.faultAt(seq);
  if (headFault !== undefined) throw brokenAudit(file, `${headPath(file)} ${headFault}`);
  const ownFault = known && ownCheck.faultAt(seq);
  if (ownFault !== undefined) throw brokenAudit(file, `this exporter ${ownFault}`);
  return { last: { seq, hash }, length, ...(torn ? { torn } : {}), unfinished: unfinished.requests };
}

/** Gives the last line of the newest file that was put aside, as long as that is there. */
async function readFileBefore(file: string, onLine: (line: AuditLine) => void): Promise<AuditLine | undefined> {
  const path = (await rotatedFiles(file)).at(-1)?.path;
  if (path === undefined) return undefined;
  const handle = await openRegularFile(path);
  let last: AuditLine | undefined;
  try {
    const { bytes } = await scanLines(handle, (text) => {
      last = readLine(text);
      if (last) onLine(last);
    });
    if (bytes > 0) last = undefined;
  } finally {
    await handle.close();
  }
  if (!last) throw brokenAudit(file, `${path} does not end with a line of an audit`);
  return last;
}
