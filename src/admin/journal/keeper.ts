import { ifMissing } from '../../lib/disk.ts';
import {
  type Contents,
  type FoundRecords,
  type JournalEntry,
  findIn,
  type JournalDatabase,
  openDatabase,
  openForReading,
  type JournalQuery,
} from './database.ts';
import { AuditError, type AuditFailure, lateJournal, toAuditError } from './failures.ts';
import { processNow } from '../../lib/time.ts';
import type { AuditPosition } from './record.ts';

/** A question to the thread. */
export type JournalQuestion =
  | {
      readonly do: 'write';
      readonly entries: readonly JournalEntry[];
      /** The last position that its owner knows of. */
      readonly known: AuditPosition | undefined;
      /** The time of `processNow` after which nobody waits: then nothing may be written. */
      readonly untilMs: number;
      /** True after a response that came too late: the response has what is on disk once more. */
      readonly again: boolean;
    }
  | { readonly do: 'find'; readonly page: JournalQuery }
  | { readonly do: 'close' };

export interface JournalAnswer {
  readonly positions?: readonly (AuditPosition | undefined)[];
  /** After the file was opened. */
  readonly opened?: Contents;
  readonly found?: FoundRecords;
  readonly failure?: { readonly reason: AuditFailure | undefined; readonly message: string };
}

/** Answers questions to the journal, and opens its file at the first one. */
export class JournalKeeper {
  readonly #file: string;
  #database: JournalDatabase | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async answer(question: JournalQuestion): Promise<JournalAnswer> {
    try {
      if (question.do === 'write') return await this.#write(question);
      if (question.do === 'find') return { found: await this.#find(question.page) };
      this.#close();
      return {};
    } catch (thrown) {
      // The next question opens the file, and finds out what is on disk.
      this.#close();
      const error = toAuditError(thrown, this.#file);
      return { failure: { reason: error instanceof AuditError ? error.reason : undefined, message: error.message } };
    }
  }

  async #write({ entries, known, untilMs, again }: Extract<JournalQuestion, { do: 'write' }>): Promise<JournalAnswer> {
    if (again || this.#database?.isInPlace === false) this.#close();
    const isOpen = this.#database !== undefined;
    this.#database ??= await openDatabase(this.#file, known, Date.now);
    const opened = isOpen ? undefined : this.#database.contents;
    if (processNow() > untilMs) throw lateJournal(this.#file);
    const positions = entries.length === 0 ? [] : this.#database.write(entries);
    if (entries.length > 0) this.#settle(entries);
    return { positions, ...(opened && { opened }) };
  }

  /** Entries that are on disk have not failed if this fails: the next question opens the file. */
  #settle(entries: readonly JournalEntry[]): void {
    try {
      this.#database?.settle(entries);
    } catch {
      this.#close();
    }
  }

  /** Reads the file itself while another process writes it, or it cannot be written. */
  async #find(page: JournalQuery): Promise<FoundRecords> {
    if (this.#database) return this.#database.find(page);
    const database = await openForReading(this.#file).catch(ifMissing);
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
