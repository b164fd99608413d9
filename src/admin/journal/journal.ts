// Writes what people change to a file of SQLite before and after each call: the caller may not send
// before append has resolved. The journal owns the thread that owns the file (journal-worker.ts).
// One batch is written at a time, and what waits meanwhile is the next batch. Each record has the
// hash of the one before (chain.ts), so that a missing or altered one is found (verify.ts). Read on
// in record.ts and database.ts.

import type { Logger } from 'pino';
import { type Thread, WorkerClient, workerBeside } from '../../lib/worker-client.ts';
import { assert } from '../../lib/check.ts';
import { createGate, inTime, processNow } from '../../lib/time.ts';
import type { JournalContents, JournalEntry, JournalQuery, Filters, FoundRecords } from './database.ts';
import { JournalError, closedJournal, lateJournal, diskTimeoutMs, toJournalError } from './failures.ts';
import type { JournalResponse, JournalRequest } from './request-handler.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

export interface JournalParts {
  /** A file of SQLite; its write-ahead log lies beside it. */
  readonly file: string;
  readonly now: () => number;
  readonly log: Logger;
  /** Gets each record as a line, for those who collect logs. */
  readonly recordLog: Logger;
  readonly onAppended: (count: number, atMs: number) => void;
  /** Called once for each failed write, however many records waited for it. */
  readonly onFailed: () => void;
  readonly createThread?: CreateJournalThread | undefined;
}

export type CreateJournalThread = (file: string) => Thread<JournalRequest, JournalResponse>;

/** The part of an entry that goes on disk together with a record. */
export type StateUpdate = Omit<JournalEntry, 'record' | 'time'>;

export type StoredState = Pick<JournalContents, 'changes' | 'freeze' | 'isCopy'>;

interface Query extends Filters {
  readonly limit: number;
  readonly maySee?: (line: AuditLine) => boolean;
  /** Ends the search. */
  readonly signal?: AbortSignal;
}

interface WaitingEntry {
  readonly entry: JournalEntry;
  readonly resolve: (position: AuditPosition | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** Number of requests that are named; more are only counted. */
const maxNamed = 20;
const pageSize = 1_000;
const closeGraceMs = 2_000;

function startThread(file: string): Thread<JournalRequest, JournalResponse> {
  return new WorkerClient(workerBeside(import.meta, 'journal-worker'), { workerData: { file } });
}

/**
 * The journal: records, each with the hash of the one before it, the changes and the freeze, in one
 * file. Records are never changed or removed. It opens its file at the first append, and at each
 * further one while that fails: no restart is needed after a full disk. It remembers its last
 * record: a file that is opened again must continue there; only a restart begins a new chain.
 */
export class Journal {
  readonly #parts: JournalParts;
  readonly #thread: Thread<JournalRequest, JournalResponse>;
  readonly #listeners: ((opened: StoredState) => void)[] = [];
  #waiting: WaitingEntry[] = [];
  #writing: Promise<void> | undefined;
  /** The position of the last record, once the file was open. */
  #last: AuditPosition | undefined;
  /** True while nobody knows what became of the newest batch. */
  #isInDoubt = false;
  /** Why the last write failed. */
  #writeFailure: string | undefined;
  /** Why the last search failed, which says nothing about writes. */
  #searchFailure: string | undefined;
  #isClosed = false;
  /** Searches wait for a disk as long as writes do, and none piles up behind one that hangs. */
  readonly #searchInTime = createGate(diskTimeoutMs, () => lateJournal(this.#parts.file));

  constructor(parts: JournalParts) {
    this.#parts = parts;
    const { file, createThread = startThread } = parts;
    this.#thread = createThread(file);
  }

  /**
   * Resolves when the record and its state update are on disk; rejects with a JournalError if neither
   * is. Waiting entries are written and synced together.
   */
  async append(record: AuditRecord, update?: StateUpdate): Promise<AuditPosition> {
    const position = await this.#enqueue({ ...update, record });
    assert(position, 'a record has a position');
    return position;
  }

  /** Writes state that has no record; settles as `append` does. */
  async writeState(update: StateUpdate): Promise<void> {
    await this.#enqueue(update);
  }

  /**
   * Resolves when the file is open; rejects with a JournalError if it cannot be. It need not be
   * called: each append opens the file, too.
   */
  async open(): Promise<void> {
    await this.#enqueue({});
  }

  /** Calls back with the state on disk after each opening, before anything is written. */
  onOpened(listener: (opened: StoredState) => void): void {
    this.#listeners.push(listener);
  }

  /** Returns the newest first; rejects with the reason of its signal, or with a JournalError. */
  async query({ limit, maySee, signal, ...filters }: Query): Promise<readonly AuditLine[]> {
    const lines: AuditLine[] = [];
    let before = Number.MAX_SAFE_INTEGER;
    while (before > 1 && lines.length < limit) {
      signal?.throwIfAborted();
      const found = await this.#find({ ...filters, before, limit: pageSize });
      lines.push(...found.lines.filter((line) => maySee?.(line) ?? true));
      before = found.from;
    }
    return lines.slice(0, limit);
  }

  async close(): Promise<void> {
    const { file, log } = this.#parts;
    this.#isClosed = true;
    await this.#writing;
    // A disk that does not answer must not keep the exporter from stopping.
    if (this.#thread.isRunning)
      await inTime(this.#request({ do: 'close' }), closeGraceMs, () => lateJournal(file)).catch(() => undefined);
    await this.#thread.terminate();
    // A copy of the log shows records that are removed before the next start.
    if (this.#last) log.info({ file, ...this.#last }, 'journal closed');
  }

  async #find(page: JournalQuery): Promise<FoundRecords> {
    const { file, log } = this.#parts;
    try {
      const { found } = await this.#searchInTime(() => this.#request({ do: 'find', page, known: this.#last }));
      assert(found, 'a search has an answer');
      if (this.#searchFailure !== undefined) log.info({ file }, 'journal is read again');
      this.#searchFailure = undefined;
      return found;
    } catch (thrown) {
      const error = toJournalError(thrown, file);
      if (error.message !== this.#searchFailure) log.error({ file, because: error.message }, 'journal cannot be read');
      this.#searchFailure = error.message;
      throw error;
    }
  }

  async #enqueue(entry: Omit<JournalEntry, 'time'>): Promise<AuditPosition | undefined> {
    const { file, now } = this.#parts;
    if (this.#isClosed) throw closedJournal(file);
    const time = new Date(now()).toISOString();
    const written = new Promise<AuditPosition | undefined>((resolve, reject) => {
      this.#waiting.push({ entry: { ...entry, time }, resolve, reject });
    });
    this.#writing ??= this.#writeWaiting();
    return await written;
  }

  /** Writes what waits, in batches, one after another. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch);
      } catch (thrown) {
        this.#fail(batch, toJournalError(thrown, this.#parts.file));
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly WaitingEntry[]): Promise<void> {
    const { file, now, log, recordLog, onAppended } = this.#parts;
    const response = this.#request({
      do: 'write',
      entries: batch.map(({ entry }) => entry),
      known: this.#last,
      untilMs: processNow() + diskTimeoutMs,
      reopen: this.#isInDoubt,
    });
    this.#isInDoubt = true;
    const { opened, positions = [] } = await inTime(response, diskTimeoutMs, () => lateJournal(file));
    this.#isInDoubt = false;
    if (opened) this.#announceOpened(opened);
    this.#last = positions.findLast((position) => position !== undefined) ?? this.#last;
    for (const [index, { entry, resolve }] of batch.entries()) {
      const position = positions[index];
      if (position) recordLog.info({ ...position, recorded: entry.time, ...entry.record }, 'record');
      resolve(position);
    }
    const count = positions.filter((position) => position !== undefined).length;
    if (count > 0) onAppended(count, now());
    if (this.#writeFailure !== undefined) log.info({ file }, 'journal is written again');
    this.#writeFailure = undefined;
  }

  #announceOpened({ last, unfinished, ...opened }: JournalContents): void {
    const { file, log } = this.#parts;
    // A log that is kept elsewhere shows it if the journal is replaced as a whole.
    log.info({ file, ...last }, 'journal opened');
    if (!this.#last && last.seq === 0) log.warn({ file }, 'journal has no records yet: it begins a new chain');
    if (!this.#last && opened.isCopy)
      log.warn({ file }, 'journal is a copy, such as a restored backup: what came after it is not known');
    if (!this.#last && unfinished.length > 0)
      log.warn(
        { file, count: unfinished.length, requests: unfinished.slice(0, maxNamed) },
        'calls of an earlier run have no outcome: they may have been carried out',
      );
    this.#last = last;
    for (const listener of this.#listeners) listener(opened);
  }

  #fail(batch: readonly WaitingEntry[], error: Error): void {
    const { file, log, onFailed } = this.#parts;
    for (const { reject } of batch) reject(error);
    onFailed();
    if (error.message !== this.#writeFailure) log.error({ file, because: error.message }, 'journal cannot be written');
    this.#writeFailure = error.message;
  }

  async #request(request: JournalRequest): Promise<JournalResponse> {
    const response = await this.#thread.request(request);
    const { failure } = response;
    if (!failure) return response;
    throw failure.reason ? new JournalError(failure.reason, failure.message) : new Error(failure.message);
  }
}
