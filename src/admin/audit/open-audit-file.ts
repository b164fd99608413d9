import { constants } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { openRegularFile } from '../../lib/regular-file.ts';
import { brokenAudit } from './audit-error.ts';
import { type AuditFile, createAuditFile } from './audit-file.ts';
import { inspect } from './inspect.ts';
import { openHead } from './kept-head.ts';
import { takeLock } from './lock.ts';
import { makeFolder } from './make-folder.ts';
import { recoverTorn } from './recover.ts';
import type { AuditPosition } from './record.ts';
import { isThere, rotatedFiles, syncFolder } from './rotated-files.ts';

export interface OpeningParts {
  readonly file: string;
  readonly maxBytes: number;
  readonly now: () => number;
  readonly log: Logger;
}

/** More requests than these are only counted. */
const mostNamed = 20;

/**
 * Locks and checks an audit, or begins one; rejects with an AuditError, or with the error of the file system. With a
 * position that this process has reached, it must still be on disk: then nothing is begun anew.
 */
export async function openAuditFile(
  { file, maxBytes, now, log }: OpeningParts,
  known: AuditPosition | undefined,
): Promise<AuditFile> {
  if (known) await refuseGone(file, known);
  await makeFolder(dirname(file));
  const lock = await takeLock(file, now);
  const opened: { close(): Promise<void> }[] = [{ close: async () => await lock.release() }];
  try {
    const head = await openHead(file);
    opened.push(head);
    const handle = await openRegularFile(file, constants.O_RDWR | constants.O_CREAT);
    opened.push(handle);
    const found = await inspect(file, handle, head.found, known);
    const { torn } = found;
    const end = torn ? await recoverTorn(file, handle, { ...found, torn }, new Date(now()).toISOString()) : found;
    if (torn) log.warn({ file, line: torn.line, bytes: torn.bytes }, 'unfinished line of the audit recovered');
    // Lines of a killed process may be in memory only; the head must never be ahead of the disk.
    await handle.datasync();
    await head.write(end.last);
    await head.sync();
    await syncFolder(file);
    // A log that is kept elsewhere bears witness, should all files of the audit be replaced together.
    log.info({ file, ...end.last }, 'audit opened');
    // Those that this process itself has begun may still get their outcomes.
    if (!known) warnOfUnfinished(found.unfinished, file, log);
    const { last, length } = end;
    return createAuditFile({ file, maxBytes, log, handle, head, last, length, lock });
  } catch (error) {
    await Promise.allSettled(opened.map(async (part) => await part.close()));
    throw error;
  }
}

function warnOfUnfinished(unfinished: readonly string[], file: string, log: Logger): void {
  if (unfinished.length === 0) return;
  const requests = unfinished.slice(-mostNamed);
  log.warn(
    { file, count: unfinished.length, requests },
    'calls of an earlier run have no outcome: they may have been carried out',
  );
}

/** A file that was put aside is not gone, though a full disk may have let no new one be made. */
async function refuseGone(file: string, { seq }: AuditPosition): Promise<void> {
  if ((await isThere(file)) || (await rotatedFiles(file)).at(-1)?.lastSeq === seq) return;
  throw brokenAudit(file, `it was there up to line ${seq}, and is gone`);
}
