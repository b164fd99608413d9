import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { ifMissing, isThere, syncFolder, writeFully } from '../../lib/disk.ts';
import { type KeptHead, type SealedLine, sealLine } from './chain.ts';
import type { Lock } from './lock.ts';
import { AuditError, type AuditPosition, type AuditRecord } from './record.ts';

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
export function fileBefore(file: string, last: AuditPosition, length: number): string | undefined {
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

/** The place where the next line of an audit goes. */
export interface Ending {
  readonly last: AuditPosition;
  /** Bytes of the current file up to the end of its last finished line. */
  readonly length: number;
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
export function brokenAudit(file: string, what: string): AuditError {
  return new AuditError(
    'broken',
    `the audit ${file} is not whole: ${what}; look with "zlb-exporter audit verify ${file}", keep the files as evidence, move all whose names begin with it away, and restart the exporter to begin a new chain on purpose`,
  );
}
