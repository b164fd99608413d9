import { constants, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { FileKindError, makeFolder } from '../../lib/disk.ts';
import { type DatabaseFormat, readFormat } from '../../lib/sqlite-file.ts';
import { checkLine, genesis, readLine, sealRecord } from './chain.ts';
import { brokenJournal, goneJournal, lockedJournal, otherFile } from './failures.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

/**
 * A part of a transaction: a record, and what changes with it. Each member but the time may be left
 * out.
 */
export interface JournalEntry {
  readonly record?: AuditRecord;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** Changes as texts, by id. */
  readonly changes?: ReadonlyMap<string, string>;
  /** Ids of changes that are kept no longer. */
  readonly forgotten?: readonly string[];
  /** The freeze as a text; null lifts it. */
  readonly freeze?: string | null;
}

/** The contents of a journal besides its records, when it is opened. */
export interface JournalContents {
  readonly last: AuditPosition;
  readonly changes: ReadonlyMap<string, string>;
  readonly freeze: string | undefined;
  /** Ids of requests that have an intent and no outcome, the newest first; only of the last records. */
  readonly unfinished: readonly string[];
  /**
   * True for a copy of the file that was written last, such as a restored backup: the original may
   * have gone on after it.
   */
  readonly isCopy: boolean;
}

/** The filters of a query; omitted ones match everything. */
export interface Filters {
  readonly principal?: string | undefined;
  readonly appliance?: string | undefined;
  readonly operation?: string | undefined;
  readonly event?: string | undefined;
  readonly request?: string | undefined;
}

/** A page of a query, the newest first. */
export interface JournalQuery extends Filters {
  /** Only below this number. */
  readonly before: number;
  readonly limit: number;
}

/** The records of a page, and the lowest number that was searched for them. */
export interface FoundRecords {
  readonly lines: readonly AuditLine[];
  readonly from: number;
}

/** Records that a page searches at most: others are written between two pages. */
export const maxSearched = 10_000;
/**
 * Records in which an opening looks for calls without an outcome. A caller may cause some hundred
 * thousand others in a day, and an opening must be quick.
 */
export const maxLookedBack = 100_000;

/** The word ZLBJ, by which the file is known. */
export const journalFormat: DatabaseFormat = { applicationId: 0x5a_4c_42_4a, version: 1 };

// `autoincrement` keeps the highest number apart: it shows that the last records are missing.
const tables = `
  CREATE TABLE records (number INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL) STRICT;
  CREATE INDEX records_request ON records (line ->> '$.request');
  CREATE TRIGGER records_stay BEFORE UPDATE ON records
    BEGIN SELECT raise(ABORT, 'a record is never changed'); END;
  CREATE TRIGGER records_remain BEFORE DELETE ON records
    BEGIN SELECT raise(ABORT, 'a record is never removed'); END;
  CREATE TABLE changes (id TEXT PRIMARY KEY, change TEXT NOT NULL) STRICT;
  CREATE TABLE freeze (only INTEGER PRIMARY KEY CHECK (only = 1), freeze TEXT NOT NULL) STRICT;
  CREATE TABLE writer (only INTEGER PRIMARY KEY CHECK (only = 1), writer TEXT NOT NULL) STRICT;
  PRAGMA application_id = ${journalFormat.applicationId};
  PRAGMA user_version = ${journalFormat.version};
`;

/**
 * Opens a journal for writing, or makes it. Rejects with a JournalError, or with the error of SQLite
 * or the file system. A position that this process has reached must still be there.
 */
export async function openDatabase(file: string, known: AuditPosition | undefined, now: () => number) {
  if (known && !statSync(file, { throwIfNoEntry: false })) throw goneJournal(file, known.seq);
  await makeFolder(dirname(file));
  // Only for its own user, which its write-ahead log then is too.
  if ((await readFormat(file, constants.O_RDWR | constants.O_CREAT)) === 'other') throw otherFile(file);
  // Nobody waits for a lock: the next call tries again.
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The write-ahead log lets others read while this process writes. SQLite syncs the folder too.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
    lockForWriting(database, file);
    if (readNumber(database, 'SELECT count(*) FROM sqlite_schema') === 0) database.exec(tables);
    assertFormat(database, file);
    const [difference] = schemaDifferences(database);
    if (difference !== undefined) throw brokenJournal(file, difference);
    const journal = new JournalDatabase(database, file, known);
    journal.registerWriter(describeWriter(now()));
    return journal;
  } catch (error) {
    database.close();
    throw error;
  }
}

function assertFormat(database: DatabaseSync, file: string): void {
  const [id, version] = ['application_id', 'user_version'].map((name) => readNumber(database, `PRAGMA ${name}`));
  if (id !== journalFormat.applicationId || version !== journalFormat.version) throw otherFile(file);
}

/**
 * Returns what a journal has besides or instead of the tables above, each as the rest of a sentence
 * that begins with the file: a trigger of somebody else could leave out records.
 */
export function schemaDifferences(database: DatabaseSync): readonly string[] {
  const own = new DatabaseSync(':memory:');
  own.exec(tables);
  const [wanted, found] = [own, database].map((each) => new Map(schemaOf(each)));
  own.close();
  const other = [...(found ?? [])].filter(([name, sql]) => wanted?.get(name) !== sql).map(([name]) => name);
  const missing = [...(wanted?.keys() ?? [])].filter((name) => !found?.has(name));
  return [
    ...other.map((name) => `has the ${name}, which the exporter did not make`),
    ...missing.map((name) => `lacks the ${name}`),
  ];
}

function schemaOf(database: DatabaseSync): readonly (readonly [name: string, sql: string])[] {
  const rows = database.prepare('SELECT type, name, sql FROM sqlite_schema').all();
  return rows.map(({ type, name, sql }) => [`${String(type)} ${String(name)}`, String(sql)]);
}

/**
 * Takes SQLite's lock for writing, which this process then keeps between its transactions: it ends
 * with the process, however that ends.
 */
function lockForWriting(database: DatabaseSync, file: string): void {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    throw isBusy(error) ? lockedJournal(file, writerOf(database)) : error;
  }
}

/** SQLITE_BUSY of sqlite3.h; the low byte is the kind of error. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === 5;
}

/** Returns who has the journal, in words; undefined if nobody has entered. */
function writerOf(database: DatabaseSync): string | undefined {
  try {
    return writerIn(database)?.who;
  } catch {
    // The other process has not made the tables yet.
    return undefined;
  }
}

/** Returns who has written a journal last, and the number of its file then. */
function writerIn(database: DatabaseSync): { readonly who: string; readonly inode: string } | undefined {
  const row = database.prepare('SELECT writer FROM writer').get();
  const [inode = '', ...who] = String(row?.writer).split(' ');
  return row && { inode, who: who.join(' ') };
}

function describeWriter(nowMs: number): string {
  return `process ${process.pid} on ${hostname()} has written it since ${new Date(nowMs).toISOString()}`;
}

function readNumber(database: DatabaseSync, statement: string): number {
  return Number(Object.values(database.prepare(statement).get() ?? {})[0] ?? 0);
}

interface FileState {
  readonly inode: string;
  readonly bytes: number;
}

const noFile: FileState = { inode: '0', bytes: 0 };

/** A journal on disk that only this process writes. Its calls block. */
export class JournalDatabase {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #isCopy: boolean;
  /** The file and its write-ahead log after the last transaction. */
  #onDisk: readonly FileState[];
  #last: AuditPosition;

  constructor(database: DatabaseSync, file: string, known: AuditPosition | undefined) {
    this.#database = database;
    this.#file = file;
    this.#onDisk = this.#fileStates();
    const before = writerIn(database);
    this.#isCopy = before !== undefined && before.inode !== this.#onDisk[0]?.inode;
    this.#last = this.#readLast();
    if (known) this.#assertContains(known);
  }

  /**
   * Returns false if the file or its write-ahead log was moved, removed, replaced or cut: what is
   * written then would be lost without an error.
   */
  get isInPlace(): boolean {
    const now = this.#fileStates();
    if (now[0] === noFile) return false;
    return this.#onDisk.every(({ inode, bytes }, index) => now[index]?.inode === inode && now[index].bytes >= bytes);
  }

  #fileStates(): readonly FileState[] {
    return [this.#file, `${this.#file}-wal`].map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? { inode: String(found.ino), bytes: found.size } : noFile;
    });
  }

  get contents(): JournalContents {
    const changes = this.#database.prepare('SELECT id, change FROM changes').all();
    const freeze = this.#database.prepare('SELECT freeze FROM freeze').get();
    return {
      last: this.#last,
      changes: new Map(changes.map(({ id, change }) => [String(id), String(change)])),
      freeze: freeze && String(freeze.freeze),
      unfinished: this.#unfinished(),
      isCopy: this.#isCopy,
    };
  }

  /** Says to other processes who writes, and to later ones in which file. */
  registerWriter(writer: string): void {
    const { inode = '' } = this.#onDisk[0] ?? {};
    this.#database.prepare('INSERT OR REPLACE INTO writer VALUES (1, ?)').run(`${inode} ${writer}`);
    this.#database.exec('COMMIT');
    this.#holdLock();
  }

  /**
   * Puts entries on disk in one transaction; throws, with none of them there, if that fails.
   * Returns the positions of their records.
   */
  write(entries: readonly JournalEntry[]): readonly (AuditPosition | undefined)[] {
    let last = this.#last;
    const positions = entries.map((entry) => {
      const { record, time } = entry;
      this.#writeState(entry);
      if (!record) return undefined;
      const { line, position } = sealRecord(record, time, last);
      const { changes } = this.#database.prepare('INSERT INTO records VALUES (?, ?)').run(position.seq, line);
      if (changes !== 1) throw brokenJournal(this.#file, `it does not take the record of number ${position.seq}`);
      last = position;
      return position;
    });
    this.#database.exec('COMMIT');
    this.#last = last;
    return positions;
  }

  /** Makes ready for the next entries; throws if it cannot, with the last ones on disk. */
  prepareNext(entries: readonly JournalEntry[]): void {
    // Secrets of a change must not stay in the write-ahead log. Without effect while somebody
    // reads; the next change does it then.
    if (entries.some(({ changes, forgotten }) => changes ?? forgotten))
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#holdLock();
  }

  #writeState({ changes = new Map(), forgotten = [], freeze }: JournalEntry): void {
    for (const [id, change] of changes)
      this.#database.prepare('INSERT OR REPLACE INTO changes VALUES (?, ?)').run(id, change);
    for (const id of forgotten) this.#database.prepare('DELETE FROM changes WHERE id = ?').run(id);
    if (freeze === undefined) return;
    this.#database.exec('DELETE FROM freeze');
    if (freeze !== null) this.#database.prepare('INSERT INTO freeze VALUES (1, ?)').run(freeze);
  }

  find(page: JournalQuery): FoundRecords {
    return findIn(this.#database, page);
  }

  close(): void {
    try {
      // Leaves out a transaction that was begun and failed.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } finally {
      this.#database.close();
    }
  }

  /** Begins the next transaction, with which the lock goes on. */
  #holdLock(): void {
    lockForWriting(this.#database, this.#file);
    const [{ inode: opened } = noFile] = this.#onDisk;
    const [now = noFile, log = noFile] = this.#fileStates();
    // The file that was opened: another one may have come in its place since the last look.
    this.#onDisk = [{ ...now, inode: opened }, log];
  }

  #readLast(): AuditPosition {
    const highest = readNumber(this.#database, "SELECT seq FROM sqlite_sequence WHERE name = 'records'");
    const row = this.#database.prepare('SELECT number, line FROM records ORDER BY number DESC LIMIT 1').get();
    if (!row && highest === 0) return genesis;
    const number = Number(row?.number ?? 0);
    if (number < highest) throw brokenJournal(this.#file, `number ${highest} of its records is missing`);
    const line = readLine(String(row?.line));
    const fault = checkLine(String(row?.line), number, { seq: number - 1, hash: line?.prev ?? '' }).fault;
    if (!line || fault !== undefined) throw brokenJournal(this.#file, `number ${number} of its records ${fault}`);
    return { seq: line.seq, hash: line.hash };
  }

  #assertContains({ seq, hash }: AuditPosition): void {
    if (seq === 0) return;
    const row = this.#database.prepare('SELECT line FROM records WHERE number = ?').get(seq);
    if (readLine(String(row?.line))?.hash !== hash)
      throw brokenJournal(this.#file, `this exporter has written another record of number ${seq} than the one there`);
  }

  #unfinished(): readonly string[] {
    const rows = this.#database
      .prepare(`
        SELECT line ->> '$.request' AS request FROM records AS intent
        WHERE number > ? AND line ->> '$.event' = 'intent'
        AND NOT EXISTS (SELECT 1 FROM records WHERE line ->> '$.request' = intent.line ->> '$.request'
          AND line ->> '$.event' = 'outcome' AND number > intent.number)
        ORDER BY number DESC`)
      .all(this.#last.seq - maxLookedBack);
    return rows.map(({ request }) => String(request));
  }
}

export function findIn(database: DatabaseSync, { before, limit, ...filters }: JournalQuery): FoundRecords {
  const highest = readNumber(database, 'SELECT max(number) FROM records');
  const below = Math.min(before, highest + 1);
  // The records of one request have an index.
  const lowest = filters.request === undefined ? Math.max(1, below - maxSearched) : 1;
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined);
  const where = ['number >= ?', 'number < ?', ...wanted.map(([name]) => `line ->> '$.${name}' = ?`)].join(' AND ');
  const rows = database
    .prepare(`SELECT number, line FROM records WHERE ${where} ORDER BY number DESC LIMIT ?`)
    .all(lowest, below, ...wanted.map(([, value]) => String(value)), limit);
  const lines = rows.flatMap(({ line }) => readLine(String(line)) ?? []);
  return { lines, from: rows.length < limit ? lowest : Number(rows.at(-1)?.number) };
}

/**
 * Opens a journal for reading, also while another process writes it. Rejects with a FileKindError
 * for another file.
 */
export async function openForReading(file: string): Promise<DatabaseSync> {
  const format = await readFormat(file, constants.O_RDONLY);
  const hasLog = statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined;
  // A new one may have all of its content in its write-ahead log.
  if (format === 'other' || (format === 'empty' && !hasLog))
    throw new FileKindError(`${file} is ${format === 'empty' ? format : 'not a journal'}`);
  if (hasLog) return new DatabaseSync(file, { readOnly: true, timeout: readingTimeoutMs });
  // Without a write-ahead log nobody writes it, and its folder may be read-only.
  const url = pathToFileURL(resolve(file));
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}

const readingTimeoutMs = 5_000;
