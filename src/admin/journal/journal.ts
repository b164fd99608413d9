import type { FileHandle } from 'node:fs/promises';
import type { Logger } from 'pino';
import { errorCode, toError } from '../../lib/check.ts';
import { FileKindError, ifMissing, openRegularFile } from '../../lib/disk.ts';
import { inTime } from '../../lib/time.ts';
import { maxLineBytes, readLine } from './chain.ts';
import { type AuditEntry, type AuditFile, rotatedFiles } from './file.ts';
import { openAuditFile } from './opening.ts';
import { AuditError, type AuditLine, type AuditPosition, type AuditRecord } from './record.ts';

export interface AuditJournalParts {
  /** The current file; older ones, the head and the lock lie beside it and begin with its name. */
  readonly file: string;
  /** Maximum size of a file; a new one begins before. */
  readonly maxBytes: number;
  readonly now: () => number;
  readonly log: Logger;
  readonly onAppended: (count: number, atMs: number) => void;
  /** Called once for each failed write, however many records waited for it. */
  readonly onFailed: () => void;
}

/** The audit: a line for each record, with the hash of the line before; lines are never removed. */
export interface AuditJournal {
  /**
   * Resolves when the record is on disk; rejects with an AuditError if it is not. Waiting records
   * are written and synced together.
   */
  append(record: AuditRecord): Promise<AuditPosition>;
  /** Returns the newest first. */
  query(query: AuditQuery): Promise<readonly AuditLine[]>;
  close(): Promise<void>;
}

/** A network file system may never answer. */
const maxOpeningMs = 10_000;

interface Waiting extends AuditEntry {
  readonly resolve: (position: AuditPosition) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Creates a journal that opens its file at the first append, and at each further one while that
 * fails: no restart is needed after a full disk. It remembers its last line. A file that is opened
 * again must continue there; only a restart begins a new chain.
 */
export function createAuditJournal(parts: AuditJournalParts): AuditJournal {
  const { file, now, log, onAppended, onFailed } = parts;
  const current = new CurrentFile(parts);
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let failing: string | undefined;
  let closed = false;

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const positions = await (await current.open()).write(batch);
        for (const [index, position] of positions.entries()) batch[index]?.resolve(position);
        // Records that did not fit into one file come first in the next.
        waiting = [...batch.slice(positions.length), ...waiting];
        onAppended(positions.length, now());
        if (failing !== undefined) log.info({ file }, 'audit is written again');
        failing = undefined;
      } catch (thrown) {
        const error = toAuditError(thrown, file);
        for (const { reject } of batch) reject(error);
        onFailed();
        if (error.message !== failing) log.error({ file, because: error.message }, 'audit cannot be written');
        failing = error.message;
      }
    }
    writing = undefined;
  }

  return {
    async append(record) {
      if (closed) {
        const stopping = `the audit ${file} is closed since the exporter is stopping; repeat the call once it runs again`;
        throw new AuditError('closed', stopping);
      }
      const written = new Promise<AuditPosition>((resolve, reject) => {
        waiting.push({ record, time: new Date(now()).toISOString(), resolve, reject });
      });
      writing ??= writeWaiting();
      return await written;
    },
    async query(query) {
      return await queryAudit(file, query, current.file?.length ?? Number.POSITIVE_INFINITY);
    },
    async close() {
      closed = true;
      await writing;
      const last = current.file?.last;
      await current.close();
      // A copy of the log shows lines that are removed before the next start.
      if (last) log.info({ file, ...last }, 'audit closed');
    },
  };
}

/** The file of the journal, which is opened again after it was moved or changed. */
class CurrentFile {
  readonly #parts: AuditJournalParts;
  #opened: AuditFile | undefined;
  /** Continues when nobody waits for it any more, so that there are never two at once. */
  #opening: Promise<AuditFile> | undefined;
  /** The end of a file that was moved or changed. */
  #known: AuditPosition | undefined;

  constructor(parts: AuditJournalParts) {
    this.#parts = parts;
  }

  /** Returns the file while it is open. */
  get file(): AuditFile | undefined {
    return this.#opened;
  }

  /** Resolves to the open file. Rejects with an AuditError if it cannot be opened in time. */
  async open(): Promise<AuditFile> {
    if (this.#opened && !(await this.#opened.isUntouched())) {
      if (this.#opened.last.seq > 0) this.#known = this.#opened.last;
      await this.#release();
    }
    if (this.#opened) return this.#opened;
    this.#opening ??= this.#start();
    return await inTime(this.#opening, maxOpeningMs, () => notOpen(this.#parts.file));
  }

  async close(): Promise<void> {
    // Does not wait for a disk that does not answer; if it answers later, the lock is released
    // then.
    void Promise.allSettled([this.#opening?.then(() => this.#release())]);
    await this.#release();
  }

  async #start(): Promise<AuditFile> {
    try {
      this.#opened = await openAuditFile(this.#parts, this.#known);
      return this.#opened;
    } finally {
      this.#opening = undefined;
    }
  }

  async #release(): Promise<void> {
    const file = this.#opened;
    this.#opened = undefined;
    await file?.close();
  }
}

function notOpen(file: string): AuditError {
  return new AuditError(
    'unwritable',
    `cannot write the audit ${file}: it is not open after ${maxOpeningMs / 1_000} seconds; check that its disk answers, or choose another admin.audit_file; the next call tries again`,
  );
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'the user that runs the exporter may not; give it the file and its folder',
  EPERM: 'the user that runs the exporter may not; give it the file and its folder',
  EROFS: 'the file system is read-only; mount it for writing or choose another admin.audit_file',
  ENOENT: 'its folder cannot be made there; choose another admin.audit_file',
  ENOTDIR: 'a part of its path is a file; choose another admin.audit_file',
  EISDIR: 'it is a folder; choose another admin.audit_file',
  ENAMETOOLONG: 'its name is too long; choose another admin.audit_file',
  EMFILE: 'the exporter has too many files open; raise its limit',
};

/** Wraps file-system errors in an AuditError; returns other errors unchanged. */
export function toAuditError(thrown: unknown, file: string): Error {
  const error = toError(thrown);
  const code = errorCode(thrown);
  if (error instanceof FileKindError) {
    const message = `cannot write the audit ${file}: ${error.message}; move it away or choose another admin.audit_file; the next call tries again`;
    return new AuditError('unwritable', message, { cause: thrown });
  }
  if (error instanceof AuditError || !/^E[A-Z]+$/.test(code)) return error;
  const options = { cause: thrown };
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) {
    const full = `cannot write the audit ${file}: no room is left (${code}); make room, the next call tries again`;
    return new AuditError('full', full, options);
  }
  const remedy = remedies[code] ?? 'check the disk and the folder; the next call tries again';
  return new AuditError('unwritable', `cannot write the audit ${file} (${code}): ${remedy}`, options);
}

const filters = ['principal', 'appliance', 'operation', 'event', 'request'] as const;

/** The filters of a query; omitted ones match everything. */
type AuditFilters = { readonly [Name in (typeof filters)[number]]?: AuditLine[Name] | undefined };

interface AuditQuery extends AuditFilters {
  readonly limit: number;
  /** Returns true if the caller may see a line. */
  readonly maySee?: (line: AuditLine) => boolean;
}

/**
 * Returns the lines that match, the newest first. Reads the current file up to `end` only, and
 * skips damaged lines, which `audit verify` reports.
 */
async function queryAudit(file: string, query: AuditQuery, end: number): Promise<readonly AuditLine[]> {
  const { limit, maySee } = query;
  const fits = (line: AuditLine): boolean =>
    filters.every((name) => query[name] === undefined || query[name] === line[name]) && (maySee?.(line) ?? true);
  const found: AuditLine[] = [];
  let newest = Number.POSITIVE_INFINITY;
  const read = async (handle: FileHandle | undefined, most: number): Promise<void> => {
    if (!handle) return;
    try {
      for await (const bytes of linesFromEnd(handle, Math.min(most, (await handle.stat()).size))) {
        if (found.length >= limit) return;
        const line = readLine(bytes);
        // A file that is rotated meanwhile would appear twice.
        if (!line || line.seq >= newest) continue;
        newest = line.seq;
        if (fits(line)) found.push(line);
      }
    } finally {
      await handle.close();
    }
  };
  await read(await openRegularFile(file).catch(ifMissing), end);
  for (const { path } of [...(await rotatedFiles(file))].reverse()) {
    if (found.length >= limit) break;
    await read(await openRegularFile(path).catch(ifMissing), Number.POSITIVE_INFINITY);
  }
  return found;
}

const blockBytes = 262_144;
const newline = 0x0a;

/**
 * Yields the lines before `end` without their newlines, the last one first. Begins with the rest
 * after the last newline, which may be empty.
 */
async function* linesFromEnd(handle: FileHandle, end: number): AsyncGenerator<Buffer> {
  let position = end;
  let rest = Buffer.alloc(0);
  while (position > 0) {
    const from = Math.max(0, position - blockBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(position - from), 0, position - from, from);
    const block = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
    let to = block.length;
    for (let at = block.lastIndexOf(newline); at !== -1; at = to === 0 ? -1 : block.lastIndexOf(newline, to - 1)) {
      yield block.subarray(at + 1, to);
      to = at;
    }
    // Longer than any line: its beginning alone does not parse as one.
    rest = to > maxLineBytes ? Buffer.alloc(0) : block.subarray(0, to);
    position = from;
  }
  yield rest;
}
