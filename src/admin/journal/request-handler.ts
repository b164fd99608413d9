import { ifMissing } from '../../lib/disk.ts';
import {
  type JournalContents,
  type FoundRecords,
  type JournalEntry,
  findIn,
  type JournalDatabase,
  openDatabase,
  openForReading,
  type JournalQuery,
} from './database.ts';
import { goneJournal, JournalError, type JournalFailure, lateJournal, toJournalError } from './failures.ts';
import { processNow } from '../../lib/time.ts';
import type { AuditPosition } from './record.ts';

/** A request to the thread of the journal. */
export type JournalRequest =
  | {
      readonly do: 'write';
      readonly entries: readonly JournalEntry[];
      /** The last position that its owner knows of. */
      readonly known: AuditPosition | undefined;
      /** The time of `processNow` after which nobody waits: then nothing may be written. */
      readonly untilMs: number;
      /**
       * True if the outcome of the last write is unknown: the file is opened again, and the response has
       * its contents.
       */
      readonly reopen: boolean;
    }
  | { readonly do: 'find'; readonly page: JournalQuery; readonly known: AuditPosition | undefined }
  | { readonly do: 'close' };

export interface JournalResponse {
  readonly positions?: readonly (AuditPosition | undefined)[];
  /** After the file was opened. */
  readonly opened?: JournalContents;
  readonly found?: FoundRecords;
  readonly failure?: { readonly reason: JournalFailure | undefined; readonly message: string };
}

/** Answers the requests of a journal in its thread, and opens its file at the first one. */
export class JournalRequestHandler {
  readonly #file: string;
  #database: JournalDatabase | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async handle(request: JournalRequest): Promise<JournalResponse> {
    try {
      if (request.do === 'write') return await this.#write(request);
      if (request.do === 'find') return { found: await this.#find(request) };
      this.#close();
      return {};
    } catch (thrown) {
      // The next request opens the file, and finds out what is on disk.
      this.#close();
      const error = toJournalError(thrown, this.#file);
      return { failure: { reason: error instanceof JournalError ? error.reason : undefined, message: error.message } };
    }
  }

  async #write({
    entries,
    known,
    untilMs,
    reopen,
  }: Extract<JournalRequest, { do: 'write' }>): Promise<JournalResponse> {
    if (reopen || this.#database?.isInPlace === false) this.#close();
    const isOpen = this.#database !== undefined;
    this.#database ??= await openDatabase(this.#file, known, Date.now);
    const opened = isOpen ? undefined : this.#database.contents;
    if (processNow() > untilMs) throw lateJournal(this.#file);
    const positions = entries.length === 0 ? [] : this.#database.write(entries);
    if (entries.length > 0) this.#prepareNext(entries);
    return { positions, ...(opened && { opened }) };
  }

  /** A failure here does not fail the entries, which are on disk: the next request opens the file. */
  #prepareNext(entries: readonly JournalEntry[]): void {
    try {
      this.#database?.prepareNext(entries);
    } catch {
      this.#close();
    }
  }

  /** Reads the file itself while another process writes it, or it cannot be written. */
  async #find({ page, known }: Extract<JournalRequest, { do: 'find' }>): Promise<FoundRecords> {
    if (this.#database) return this.#database.find(page);
    const database = await openForReading(this.#file).catch(ifMissing);
    // No records would read as "nothing happened".
    if (!database && known) throw goneJournal(this.#file, known.seq);
    try {
      return database ? findIn(database, page) : { lines: [], from: 1 };
    } finally {
      database?.close();
    }
  }

  #close(): void {
    const database = this.#database;
    this.#database = undefined;
    try {
      database?.close();
    } catch {
      // It was not usable any more.
    }
  }
}
