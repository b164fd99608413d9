import { errorCode, isRecord, toError } from '../../lib/check.ts';
import { FileKindError } from '../../lib/disk.ts';

/**
 * The reason for which a record is not on disk: the disk is full, another process writes the
 * journal, it cannot be written, it is not the one that was written, or it has been closed.
 */
export type JournalFailure = 'full' | 'locked' | 'unwritable' | 'broken' | 'closed';

/**
 * Reports that a record is not on disk, so that its call must not be sent. The message is one line
 * with the remedy; it names a local file.
 */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly reason: JournalFailure;

  constructor(reason: JournalFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Returns the error of a journal that is not the one that was written: nothing may be added to it.
 */
export function brokenJournal(file: string, what: string): JournalError {
  return new JournalError(
    'broken',
    `the journal ${file} is not intact: ${what}; look with "zlb-exporter audit verify ${file}", keep all files whose names begin with it as evidence, move them away, and restart the exporter to begin a new chain on purpose`,
  );
}

export function goneJournal(file: string, highest: number): JournalError {
  return brokenJournal(file, `it was there up to number ${highest}, and is gone`);
}

export function otherFile(file: string): JournalError {
  return new JournalError(
    'unwritable',
    `cannot write the journal ${file}: it is another file, or of a newer version; move it away or choose another admin.journal_file; the next call tries again`,
  );
}

export function lockedJournal(file: string, writer = 'another process has it'): JournalError {
  return new JournalError(
    'locked',
    `cannot write the journal ${file}: ${writer}; stop that exporter, or give each one an admin.journal_file of its own; the next call tries again`,
  );
}

/** How long a call waits for the disk: a network file system may never answer. */
export const diskTimeoutMs = 10_000;

export function lateJournal(file: string): JournalError {
  return new JournalError(
    'unwritable',
    `cannot write the journal ${file}: its disk has not answered for ${diskTimeoutMs / 1_000} seconds; check the disk, or choose another admin.journal_file; the next call tries again`,
  );
}

export function closedJournal(file: string): JournalError {
  return new JournalError(
    'closed',
    `the journal ${file} is closed since the exporter is stopping; repeat the call once it runs again`,
  );
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'the user that runs the exporter may not; give it the file and its folder',
  EPERM: 'the user that runs the exporter may not; give it the file and its folder',
  ERR_ACCESS_DENIED:
    'the permissions of Node.js refuse it; beside --permission give --allow-worker, and --allow-fs-write for its folder',
  EROFS: 'the file system is read-only; mount it for writing or choose another admin.journal_file',
  ENOENT: 'its folder cannot be made there; choose another admin.journal_file',
  ENOTDIR: 'a part of its path is a file; choose another admin.journal_file',
  EISDIR: 'it is a folder; choose another admin.journal_file',
  ENAMETOOLONG: 'its name is too long; choose another admin.journal_file',
  EMFILE: 'the exporter has too many files open; raise its limit',
  SQLITE_READONLY: 'it may not be written; mount it for writing, or give it to the user that runs the exporter',
  SQLITE_CANTOPEN: 'it cannot be opened; check the disk and the folder',
  SQLITE_CORRUPT: 'it is damaged; look at the disk, and keep the file as evidence',
  SQLITE_NOTADB: 'it is damaged; look at the disk, and keep the file as evidence',
};

/** The primary result codes of sqlite3.h that have a remedy of their own. */
const sqliteCodes: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};

function codeOf(thrown: unknown): string {
  if (!isRecord(thrown) || typeof thrown.errcode !== 'number') return errorCode(thrown);
  return sqliteCodes[thrown.errcode % 256] ?? `SQLite ${thrown.errcode}`;
}

/**
 * Wraps errors of SQLite and of the file system in a JournalError; returns other errors unchanged.
 */
export function toJournalError(thrown: unknown, file: string): Error {
  const error = toError(thrown);
  const code = codeOf(thrown);
  if (error instanceof FileKindError) {
    const message = `cannot write the journal ${file}: ${error.message}; move it away or choose another admin.journal_file; the next call tries again`;
    return new JournalError('unwritable', message, { cause: thrown });
  }
  if (error instanceof JournalError || !/^(?:E[A-Z]+|ERR_ACCESS_DENIED|SQL.+)$/.test(code)) return error;
  const options = { cause: thrown };
  if (['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL'].includes(code)) {
    const full = `cannot write the journal ${file}: no room is left (${code}); make room, the next call tries again`;
    return new JournalError('full', full, options);
  }
  const remedy = remedies[code] ?? 'check the disk and the folder; the next call tries again';
  return new JournalError('unwritable', `cannot write the journal ${file} (${code}): ${remedy}`, options);
}
