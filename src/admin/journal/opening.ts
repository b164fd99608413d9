import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { isThere, makeFolder, openRegularFile, syncFolder, writeFully } from '../../lib/disk.ts';
import {
  checkFile,
  Chain,
  createHeadCheck,
  type FoundHead,
  genesis,
  headPath,
  noteUnfinished,
  openHead,
  readLine,
  scanLines,
  sealLine,
  type TornLine,
} from './chain.ts';
import { AuditFile, brokenAudit, type Ending, fileBefore, rotatedFiles } from './file.ts';
import { takeLock } from './lock.ts';
import { type AuditLine, type AuditPosition, type AuditRecord, noRequest } from './record.ts';

interface OpeningParts {
  readonly file: string;
  readonly maxBytes: number;
  readonly now: () => number;
  readonly log: Logger;
}

/** Number of requests that are named; more are only counted. */
const maxNamed = 20;
/** The length at which the text of an unfinished line is cut. */
const maxTextBytes = 4_096;

/**
 * Locks and checks an audit, or begins one. Rejects with an AuditError, or with the error of the
 * file system. A position that this process has reached must still be on disk: no new audit is
 * begun then.
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
    // A log that is kept elsewhere shows it if all files of the audit are replaced together.
    log.info({ file, ...end.last }, 'audit opened');
    // Calls that this process itself has begun may still get their outcomes.
    if (!known) warnOfUnfinished(found.unfinished, file, log);
    const { last, length } = end;
    return new AuditFile({ file, maxBytes, log, handle, head, last, length, lock });
  } catch (error) {
    await Promise.allSettled(opened.map(async (part) => await part.close()));
    throw error;
  }
}

function warnOfUnfinished(unfinished: readonly string[], file: string, log: Logger): void {
  if (unfinished.length === 0) return;
  const requests = unfinished.slice(-maxNamed);
  log.warn(
    { file, count: unfinished.length, requests },
    'calls of an earlier run have no outcome: they may have been carried out',
  );
}

/** Throws if the audit is gone. A rotated file without a new one is none: the disk may be full. */
async function refuseGone(file: string, { seq }: AuditPosition): Promise<void> {
  if ((await isThere(file)) || (await rotatedFiles(file)).at(-1)?.lastSeq === seq) return;
  throw brokenAudit(file, `it was there up to line ${seq}, and is gone`);
}

interface Found extends Ending {
  readonly torn: TornLine | undefined;
  /** Ids of requests without an outcome in the current file and the one before it. */
  readonly unfinished: readonly string[];
}

/**
 * Checks the current file against itself, the file before it, the head and the position that this
 * process remembers; rejects with an AuditError when anything differs.
 */
async function inspect(
  file: string,
  handle: FileHandle,
  head: FoundHead,
  known: AuditPosition | undefined,
): Promise<Found> {
  const unfinished = new Set<string>();
  const before = await readFileBefore(file, (line) => noteUnfinished(unfinished, line));
  const chain = new Chain(before);
  const headCheck = createHeadCheck(head, before ?? genesis);
  const ownCheck = createHeadCheck(known ?? 'none', before ?? genesis);
  const { faults, torn, length } = await checkFile(handle, chain, (line) => {
    headCheck.pass(line);
    ownCheck.pass(line);
    noteUnfinished(unfinished, line);
  });

  const [fault] = faults;
  if (fault) throw brokenAudit(file, `line ${fault.line} of it ${fault.what}`);
  const { seq, hash } = chain.last ?? genesis;
  const headFault = headCheck.faultAt(seq);
  if (headFault !== undefined) throw brokenAudit(file, `${headPath(file)} ${headFault}`);
  const ownFault = known && ownCheck.faultAt(seq);
  if (ownFault !== undefined) throw brokenAudit(file, `this exporter ${ownFault}`);
  return { last: { seq, hash }, length, torn, unfinished: [...unfinished] };
}

/** Returns the last line of the newest rotated file, if there is one. */
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

/**
 * Replaces an unfinished last line by a `recovered` record that contains it. On a full disk the
 * line stays as it was.
 */
async function recoverTorn(
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
    ...noRequest,
    torn: {
      bytes: torn.length,
      sha256: createHash('sha256').update(torn).digest('hex'),
      text: torn.toString('utf8', 0, maxTextBytes),
    },
  };
}
