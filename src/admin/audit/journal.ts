import type { Logger } from 'pino';
import { sleep } from '../../lib/sleep.ts';
import { AuditError, toAuditError } from './audit-error.ts';
import type { AuditFile, AuditEntry } from './audit-file.ts';
import { openAuditFile } from './open-audit-file.ts';
import { type AuditQuery, queryAudit } from './query.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

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
  /** The newest first. */
  query(query: AuditQuery): Promise<readonly AuditLine[]>;
  /** The last line that is on disk; unknown before the first append. */
  readonly head: AuditPosition | undefined;
  close(): Promise<void>;
}

/** A network file system may never answer. */
const maxOpeningMs = 10_000;

interface Waiting extends AuditEntry {
  readonly resolve: (position: AuditPosition) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Opens the file at the first append, and again at the next one for as long as that fails: room on
 * the disk heals it without a restart. What it has written it remembers: a file that is opened
 * again must go on from there, and only a restart begins a new chain.
 */
export function createAuditJournal(parts: AuditJournalParts): AuditJournal {
  const { file, now, log, onAppended, onFailed } = parts;
  const current = createCurrentFile(parts);
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
    get head() {
      const { file: opened } = current;
      return opened && opened.last.seq > 0 ? opened.last : undefined;
    },
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
      await current.close();
    },
  };
}

/** The file of the journal, which is opened again after it was moved or changed. */
interface CurrentFile {
  /** Undefined while it is not open. */
  readonly file: AuditFile | undefined;
  /** Resolves to the open file. Rejects with an AuditError if it cannot be opened in time. */
  open(): Promise<AuditFile>;
  close(): Promise<void>;
}

function createCurrentFile(parts: AuditJournalParts): CurrentFile {
  let opened: AuditFile | undefined;
  /** Continues when nobody waits for it any more, so that there are never two at once. */
  let opening: Promise<AuditFile> | undefined;
  /** The end of a file that was moved or changed. */
  let known: AuditPosition | undefined;

  async function start(): Promise<AuditFile> {
    try {
      opened = await openAuditFile(parts, known);
      return opened;
    } finally {
      opening = undefined;
    }
  }

  async function release(): Promise<void> {
    const file = opened;
    opened = undefined;
    await file?.close();
  }

  return {
    get file() {
      return opened;
    },
    async open() {
      if (opened && !(await opened.isUntouched())) {
        if (opened.last.seq > 0) known = opened.last;
        await release();
      }
      if (opened) return opened;
      opening ??= start();
      return await inTime(opening, parts.file);
    },
    async close() {
      // Does not wait for a disk that does not answer; if it answers later, the lock is released
      // then.
      void Promise.allSettled([opening?.then(release)]);
      await release();
    },
  };
}

async function inTime(opening: Promise<AuditFile>, file: string): Promise<AuditFile> {
  const timer = new AbortController();
  const late = sleep(maxOpeningMs, timer.signal).then(() => {
    throw new AuditError(
      'unwritable',
      `cannot write the audit ${file}: it is not open after ${maxOpeningMs / 1_000} seconds; check that its disk answers, or choose another admin.audit_file; the next call tries again`,
    );
  });
  try {
    return await Promise.race([opening, late]);
  } finally {
    timer.abort();
  }
}
