import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { assert, toError } from '../../lib/check.ts';
import { inTime, processNow } from '../../lib/time.ts';
import type { Contents, Entry, Filters } from './database.ts';
import { AuditError, closedJournal, lateJournal, maxWaitMs, toAuditError } from './failures.ts';
import type { Answer, Question } from './journal-worker.ts';
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
}

/** The part of an entry that goes on disk together with a record. */
export type Alongside = Omit<Entry, 'record' | 'time'>;

/** The contents of the journal when it was opened. */
export type Opened = Pick<Contents, 'changes' | 'freeze'>;

interface Query extends Filters {
  readonly limit: number;
  /** Returns true if the caller may see a line. */
  readonly maySee?: (line: AuditLine) => boolean;
}

/**
 * The journal: records, each with the hash of the one before it, the changes and the freeze, in one
 * file. Records are never changed or removed.
 */
export interface Journal {
  /**
   * Resolves when the record, and what goes with it, are on disk; rejects with an AuditError if
   * nothing of it is. Waiting entries are written and synced together.
   */
  append(record: AuditRecord, alongside?: Alongside): Promise<AuditPosition>;
  /** The same for what has no record. */
  keep(alongside: Alongside): Promise<void>;
  /**
   * Resolves when the file is open; rejects with an AuditError if it cannot be. It need not be
   * called: each append opens the file, too.
   */
  open(): Promise<void>;
  /** Calls back with what is on disk, before anything is written after an opening. */
  onOpened(listener: (opened: Opened) => void): void;
  /** Returns the newest first. */
  query(query: Query): Promise<readonly AuditLine[]>;
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: Entry;
  readonly resolve: (position: AuditPosition | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** Number of requests that are named; more are only counted. */
const maxNamed = 20;
const pageSize = 1_000;

/**
 * Creates a journal that opens its file at the first append, and at each further one while that
 * fails: no restart is needed after a full disk. It remembers its last record. A file that is
 * opened again must continue there; only a restart begins a new chain.
 */
export function createJournal(parts: JournalParts): Journal {
  const { file, now, log } = parts;
  const thread = createThread(file);
  const writer = new Writer(parts, thread);
  let closed = false;

  async function enter(entry: Omit<Entry, 'time'>): Promise<AuditPosition | undefined> {
    if (closed) throw closedJournal(file);
    return await writer.enter({ ...entry, time: new Date(now()).toISOString() });
  }

  return {
    async append(record, alongside) {
      const position = await enter({ ...alongside, record });
      assert(position, 'a record has a position');
      return position;
    },
    async keep(alongside) {
      await enter(alongside);
    },
    async open() {
      await enter({});
    },
    onOpened: (listener) => void writer.listeners.push(listener),
    query: (query) => find(query, thread),
    async close() {
      closed = true;
      await writer.idle();
      await thread.close();
      // A copy of the log shows records that are removed before the next start.
      if (writer.last) log.info({ file, ...writer.last }, 'journal closed');
    },
  };
}

/** Writes what waits, in batches, one after another. */
class Writer {
  readonly listeners: ((opened: Opened) => void)[] = [];
  readonly #parts: JournalParts;
  readonly #thread: Thread;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #last: AuditPosition | undefined;
  /** True while nobody knows what became of the newest batch. */
  #isInDoubt = false;
  #failing: string | undefined;

  constructor(parts: JournalParts, thread: Thread) {
    this.#parts = parts;
    this.#thread = thread;
  }

  /** The position of the last record, once the file was open. */
  get last(): AuditPosition | undefined {
    return this.#last;
  }

  async enter(entry: Entry): Promise<AuditPosition | undefined> {
    const written = new Promise<AuditPosition | undefined>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
    });
    this.#writing ??= this.#writeWaiting();
    return await written;
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch);
      } catch (thrown) {
        this.#fail(batch, toAuditError(thrown, this.#parts.file));
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { file, now, log, recordLog, onAppended } = this.#parts;
    const answer = this.#thread.ask({
      do: 'write',
      entries: batch.map(({ entry }) => entry),
      known: this.#last,
      untilMs: processNow() + maxWaitMs,
      again: this.#isInDoubt,
    });
    this.#isInDoubt = true;
    const { opened, positions = [] } = await inTime(answer, maxWaitMs, () => lateJournal(file));
    this.#isInDoubt = false;
    if (opened) this.#open(opened);
    this.#last = positions.findLast((position) => position !== undefined) ?? this.#last;
    for (const [index, { entry, resolve }] of batch.entries()) {
      const position = positions[index];
      if (position) recordLog.info({ ...position, recorded: entry.time, ...entry.record }, 'record');
      resolve(position);
    }
    const count = positions.filter((position) => position !== undefined).length;
    if (count > 0) onAppended(count, now());
    if (this.#failing !== undefined) log.info({ file }, 'journal is written again');
    this.#failing = undefined;
  }

  #open({ last, unfinished, ...opened }: Contents): void {
    const { file, log } = this.#parts;
    // A log that is kept elsewhere shows it if the journal is replaced as a whole.
    log.info({ file, ...last }, 'journal opened');
    if (!this.#last) warnOfUnfinished(unfinished, file, log);
    this.#last = last;
    for (const listener of this.listeners) listener(opened);
  }

  #fail(batch: readonly Waiting[], error: Error): void {
    const { file, log, onFailed } = this.#parts;
    for (const { reject } of batch) reject(error);
    onFailed();
    if (error.message !== this.#failing) log.error({ file, because: error.message }, 'journal cannot be written');
    this.#failing = error.message;
  }
}

async function find({ limit, maySee, ...filters }: Query, { ask }: Thread): Promise<readonly AuditLine[]> {
  const found: AuditLine[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const { lines = [] } = await ask({ do: 'find', page: { ...filters, before, limit: pageSize } });
    found.push(...lines.filter((line) => maySee?.(line) ?? true));
    before = lines.at(-1)?.seq ?? 0;
    if (lines.length < pageSize || found.length >= limit) return found.slice(0, limit);
  }
}

function warnOfUnfinished(unfinished: readonly string[], file: string, log: Logger): void {
  if (unfinished.length === 0) return;
  const requests = unfinished.slice(0, maxNamed);
  log.warn(
    { file, count: unfinished.length, requests },
    'calls of an earlier run have no outcome: they may have been carried out',
  );
}

interface Thread {
  readonly ask: (question: Question) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Creates the thread of a journal, which starts at the first question. */
function createThread(file: string): Thread {
  const asked = new Map<number, PromiseWithResolvers<Answer>>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    // It has the extension of this file: .ts from source, .js when built.
    const url = new URL(`journal-worker${extname(import.meta.filename)}`, import.meta.url);
    const started = new Worker(url, { workerData: { file } });
    started.unref();
    started.on('message', ({ id, answer }: { readonly id: number; readonly answer: Answer }) => {
      const question = asked.get(id);
      asked.delete(id);
      const { failure } = answer;
      if (!failure) question?.resolve(answer);
      else
        question?.reject(failure.reason ? new AuditError(failure.reason, failure.message) : new Error(failure.message));
    });
    started.on('error', (error) => fail(started, toError(error)));
    started.on('exit', () => fail(started, new Error('the thread of the journal ended')));
    return started;
  }

  function fail(ended: Worker, error: Error): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  }

  const ask = (question: Question): Promise<Answer> => {
    worker ??= start();
    lastId += 1;
    const answered = Promise.withResolvers<Answer>();
    asked.set(lastId, answered);
    worker.postMessage({ id: lastId, question });
    return answered.promise;
  };

  return {
    ask,
    async close() {
      if (!worker) return;
      const ended = worker;
      // A disk that does not answer must not keep the exporter from stopping.
      await inTime(ask({ do: 'close' }), closeGraceMs, () => lateJournal(file)).catch(() => undefined);
      await ended.terminate();
    },
  };
}

const closeGraceMs = 2_000;
