import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { errorCode } from '../../lib/check.ts';
import { AuditError, brokenAudit } from './audit-error.ts';
import { isThere, syncFolder, writeFully } from './disk.ts';
import type { KeptHead } from './head.ts';
import { type SealedLine, sealLine } from './line.ts';
import type { Lock } from './lock.ts';
import type { AuditPosition, AuditRecord } from './record.ts';
import { fileBefore, rotatedPath } from './rotated-files.ts';

/** A record and its time. */
export interface AuditEntry {
  readonly record: AuditRecord;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** The audit on disk, locked and checked, with its end known. */
export interface AuditFile {
  readonly last: AuditPosition;
  /** Bytes that are written and synced. */
  readonly length: number;
  /**
   * Resolves to false if another process moved, truncated or changed the file, or took its lock.
   */
  isUntouched(): Promise<boolean>;
  /**
   * Writes and syncs the first entries: as many as fit into one file, and at least one. If it
   * rejects, none is written.
   */
  write(entries: readonly AuditEntry[]): Promise<readonly AuditPosition[]>;
  close(): Promise<void>;
}

export interface AuditFileParts {
  readonly file: string;
  /** Maximum size of a file; a new one begins before. */
  readonly maxBytes: number;
  readonly log: Logger;
  readonly handle: FileHandle;
  readonly head: KeptHead;
  readonly last: AuditPosition;
  readonly length: number;
  readonly lock: Lock;
}

export function createAuditFile({ file, maxBytes, log, head, lock, ...found }: AuditFileParts): AuditFile {
  let { handle, last, length } = found;

  async function rotate(): Promise<void> {
    const path = rotatedPath(file, last.seq);
    if (await isThere(path)) throw brokenAudit(file, `${path} is there already`);
    await head.sync();
    await rename(file, path);
    // After a crash here, the next process that opens the audit continues from the rotated file.
    const full = handle;
    handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    length = 0;
    await full.close();
    await syncFolder(file);
    log.info({ file: path, seq: last.seq, hash: last.hash }, 'audit goes on in a new file');
  }

  async function put(lines: readonly SealedLine[]): Promise<void> {
    const bytes = Buffer.concat(lines.map((line) => line.bytes));
    const position = lines.at(-1)?.position ?? last;
    await writeFully(handle, bytes, length);
    await handle.datasync();
    // Acknowledged only if the lock is still held; otherwise these lines may not be part of the
    // audit.
    if (!(await lock.isHeld())) throw lostLock(file);
    await head.write(position);
    last = position;
    length += bytes.length;
  }

  async function cleanUp(): Promise<void> {
    if (!(await lock.isHeld())) return;
    await handle.truncate(length);
    await head.write(last);
    await syncFolder(file);
  }

  return {
    get last() {
      return last;
    },
    get length() {
      return length;
    },
    async isUntouched() {
      const [onDisk, own, isHeld] = await Promise.all([stat(file).catch(ifMissing), handle.stat(), lock.isHeld()]);
      return isHeld && onDisk?.ino === own.ino && onDisk.dev === own.dev && own.size === length;
    },
    async write(entries) {
      try {
        let lines = seal(entries, { file, maxBytes, last, length });
        if (lines.length === 0) {
          await rotate();
          lines = seal(entries, { file, maxBytes, last, length });
        }
        await put(lines);
        return lines.map(({ position }) => position);
      } catch (error) {
        // If this fails too, the file counts as touched, and is opened and checked again.
        await cleanUp().catch(() => undefined);
        throw error;
      }
    },
    close: () => closeAll(head, handle, lock),
  };
}

interface End extends Pick<AuditFileParts, 'file' | 'maxBytes'> {
  readonly last: AuditPosition;
  readonly length: number;
}

/**
 * Returns the lines of the first entries: as many as fit into the file, and at least one if it is
 * empty.
 */
function seal(entries: readonly AuditEntry[], { file, maxBytes, last, length }: End): readonly SealedLine[] {
  const lines: SealedLine[] = [];
  let end = length;
  let position = last;
  for (const { record, time } of entries) {
    const line = sealLine(record, { time, last: position, after: fileBefore(file, position, end) });
    if (end > 0 && end + line.bytes.length > maxBytes) break;
    lines.push(line);
    end += line.bytes.length;
    position = line.position;
  }
  return lines;
}

async function closeAll(head: KeptHead, handle: FileHandle, lock: Lock): Promise<void> {
  try {
    await head.sync();
  } finally {
    await Promise.allSettled([head.close(), handle.close()]);
    await lock.release();
  }
}

function lostLock(file: string): AuditError {
  return new AuditError(
    'locked',
    `cannot write the audit ${file}: another process has taken its lock, so ${file}.lock was removed or its file system has no locks; stop the other exporter; the next call tries again`,
  );
}

function ifMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
