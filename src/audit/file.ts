import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { ifMissing, isThere, makeFolder, openRegularFile, syncFolder, writeFully } from '../lib/disk.ts';
import {
  checkFile,
  Chain,
  createHeadCheck,
  type FoundHead,
  genesis,
  headPath,
  type KeptHead,
  noteUnfinished,
  openHead,
  readLine,
  scanLines,
  type SealedLine,
  sealLine,
  type TornLine,
} from './chain.ts';
import { type Lock, takeLock } from './lock.ts';
import { AuditError, type AuditLine, type AuditPosition, type AuditRecord, noRequest } from './record.ts';

/** A full file that was rotated. */
interface RotatedFile {
  readonly path: string;
  /** The number of its last line, which is its name. */
  readonly lastSeq: number;
}

/** Returns the name of a rotated file. */
function rotatedPath(file: string, lastSeq: number): string {
  return `${file}.${String(lastSeq).padStart(16, '0')}`;
}

/** Returns the number in the name of a rotated file; undefined for any other name. */
export function seqInName(path: string): number | undefined {
  const [, seq] = /\.(\d{16})$/.exec(path) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/**
 * Returns the name of the file before, for the first line of a file: it shows whether lines are
 * missing at the beginning.
 */
function fileBefore(file: string, last: AuditPosition, length: number): string | undefined {
  return length === 0 && last.seq > 0 ? basename(rotatedPath(file, last.seq)) : undefined;
}

/** Lists the rotated files, the oldest first. */
export async function rotatedFiles(file: string): Promise<readonly RotatedFile[]> {
  const folder = dirname(file);
  const names = (await readdir(folder).catch(ifMissing)) ?? [];
  return names
    .flatMap((name) => {
      const lastSeq = seqInName(name) ?? 0;
      return name === basename(rotatedPath(file, lastSeq)) ? [{ path: join(folder, name), lastSeq }] : [];
    })
    .sort((a, b) => a.lastSeq - b.lastSeq);
}

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

/** The place where the next line of an audit goes. */
interface Ending {
  readonly last: AuditPosition;
  /** Bytes of the current file up to the end of its last finished line. */
  readonly length: number;
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

/** A record and its time. */
export interface AuditEntry {
  readonly record: AuditRecord;
  /** ISO 8601, UTC. */
  readonly time: string;
}

interface AuditFileParts extends Ending {
  readonly file: string;
  /** Maximum size of a file; a new one begins before. */
  readonly maxBytes: number;
  readonly log: Logger;
  readonly handle: FileHandle;
  readonly head: KeptHead;
  readonly lock: Lock;
}

/** The audit on disk, locked and checked, with its end known. */
export class AuditFile {
  readonly #parts: AuditFileParts;
  #handle: FileHandle;
  #last: AuditPosition;
  #length: number;

  constructor(parts: AuditFileParts) {
    this.#parts = parts;
    this.#handle = parts.handle;
    this.#last = parts.last;
    this.#length = parts.length;
  }

  get last(): AuditPosition {
    return this.#last;
  }

  /** Returns the number of bytes that are written and synced. */
  get length(): number {
    return this.#length;
  }

  /**
   * Resolves to false if another process moved, truncated or changed the file, or took its lock.
   */
  async isUntouched(): Promise<boolean> {
    const { file, lock } = this.#parts;
    const [onDisk, own, isHeld] = await Promise.all([stat(file).catch(ifMissing), this.#handle.stat(), lock.isHeld()]);
    return isHeld && onDisk?.ino === own.ino && onDisk.dev === own.dev && own.size === this.#length;
  }

  /**
   * Writes and syncs the first entries: as many as fit into one file, and at least one. If it
   * rejects, none is written.
   */
  async write(entries: readonly AuditEntry[]): Promise<readonly AuditPosition[]> {
    try {
      let lines = this.#seal(entries);
      if (lines.length === 0) {
        await this.#rotate();
        lines = this.#seal(entries);
      }
      await this.#put(lines);
      return lines.map(({ position }) => position);
    } catch (error) {
      // If this fails too, the file counts as touched, and is opened and checked again.
      await this.#cleanUp().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { head, lock } = this.#parts;
    try {
      await head.sync();
    } finally {
      await Promise.allSettled([head.close(), this.#handle.close()]);
      await lock.release();
    }
  }

  /**
   * Returns the lines of the first entries: as many as fit into the file, and at least one if it is
   * empty.
   */
  #seal(entries: readonly AuditEntry[]): readonly SealedLine[] {
    const { file, maxBytes } = this.#parts;
    const lines: SealedLine[] = [];
    let end = this.#length;
    let position = this.#last;
    for (const { record, time } of entries) {
      const line = sealLine(record, { time, last: position, after: fileBefore(file, position, end) });
      if (end > 0 && end + line.bytes.length > maxBytes) break;
      lines.push(line);
      end += line.bytes.length;
      position = line.position;
    }
    return lines;
  }

  async #rotate(): Promise<void> {
    const { file, head, log } = this.#parts;
    const { seq, hash } = this.#last;
    const path = rotatedPath(file, seq);
    if (await isThere(path)) throw brokenAudit(file, `${path} is there already`);
    await head.sync();
    await rename(file, path);
    // After a crash here, the next process that opens the audit continues from the rotated file.
    const full = this.#handle;
    this.#handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    this.#length = 0;
    await full.close();
    await syncFolder(file);
    log.info({ file: path, seq, hash }, 'audit goes on in a new file');
  }

  async #put(lines: readonly SealedLine[]): Promise<void> {
    const { file, head, lock } = this.#parts;
    const bytes = Buffer.concat(lines.map((line) => line.bytes));
    const position = lines.at(-1)?.position ?? this.#last;
    await writeFully(this.#handle, bytes, this.#length);
    await this.#handle.datasync();
    // Acknowledged only if the lock is still held; otherwise these lines may not be part of the
    // audit.
    if (!(await lock.isHeld())) throw lostLock(file);
    await head.write(position);
    this.#last = position;
    this.#length += bytes.length;
  }

  async #cleanUp(): Promise<void> {
    const { file, head, lock } = this.#parts;
    if (!(await lock.isHeld())) return;
    await this.#handle.truncate(this.#length);
    await head.write(this.#last);
    await syncFolder(file);
  }
}

function lostLock(file: string): AuditError {
  return new AuditError(
    'locked',
    `cannot write the audit ${file}: another process has taken its lock, so ${file}.lock was removed or its file system has no locks; stop the other exporter; the next call tries again`,
  );
}

/**
 * Returns the error for a chain on disk that is not the one that was written: nothing may be
 * appended to it.
 */
function brokenAudit(file: string, what: string): AuditError {
  return new AuditError(
    'broken',
    `the audit ${file} is not whole: ${what}; look with "zlb-exporter audit verify ${file}", keep the files as evidence, move all whose names begin with it away, and restart the exporter to begin a new chain on purpose`,
  );
}
