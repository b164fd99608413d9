import type { DatabaseSync } from 'node:sqlite';
import { isRecord, toError } from '../../lib/check.ts';
import { checkLine, genesis, missingText } from './chain.ts';
import { openForReading, schemaDifferences } from './database.ts';
import { createStateCheck } from './state-check.ts';
import type { AuditLine, AuditPosition } from './record.ts';

/** The records of a journal on disk; it is intact if there are no faults. */
export interface Verification {
  readonly records: number;
  readonly first: AuditLine | undefined;
  readonly last: AuditLine | undefined;
  /** Each the rest of a sentence that begins with the file. */
  readonly faults: readonly string[];
  /** Ids of requests that have an intent and no outcome. */
  readonly unfinished: readonly string[];
}

interface VerifyOptions {
  /** A position that the log of the exporter has. */
  readonly known?: AuditPosition | undefined;
  /** The states in which a change must be kept. */
  readonly openStates?: readonly string[];
}

/**
 * Reads all records of a journal, also while an exporter writes it, and writes nothing. Rejects if
 * the file cannot be read.
 */
export async function verifyJournal(file: string, options: VerifyOptions = {}): Promise<Verification> {
  const database = await openForReading(file);
  try {
    // One moment of it, although others are written meanwhile.
    database.exec('BEGIN');
    return verify(database, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const faults = [`is damaged: ${toError(error).message}`];
    return { records: 0, first: undefined, last: undefined, faults, unfinished: [] };
  } finally {
    database.close();
  }
}

function verify(database: DatabaseSync, { known, openStates = [] }: VerifyOptions): Verification {
  const faults = [...damageFaults(database), ...schemaDifferences(database)];
  const unfinished = new Set<string>();
  const state = createStateCheck(database, openStates);
  let before = genesis;
  let records = 0;
  let first: AuditLine | undefined;
  let last: AuditLine | undefined;
  for (const row of database.prepare('SELECT number, line FROM records ORDER BY number').iterate()) {
    const number = Number(row.number);
    const { line, fault } = checkLine(String(row.line), number, before);
    records += 1;
    if (fault !== undefined) faults.push(`number ${number} ${fault}`);
    if (number === known?.seq && line?.hash !== known.hash)
      faults.push(`number ${number} is another record than that of the hash ${known.hash}`);
    before = { seq: number, hash: line?.hash ?? '' };
    if (!line) continue;
    first ??= line;
    last = line;
    state.add(line);
    if (line.event === 'intent') unfinished.add(line.request);
    if (line.event === 'outcome') unfinished.delete(line.request);
  }
  const counted = Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'records'").get()?.seq ?? 0);
  const highest = Math.max(counted, known?.seq ?? 0);
  if (highest > before.seq)
    faults.push(`has had number ${highest}: ${missingText(before.seq + 1, highest)} at the end`);
  if (counted < before.seq)
    faults.push(`counts ${counted} records and has number ${before.seq}: its count was changed`);
  return { records, first, last, faults: [...faults, ...state.faults], unfinished: [...unfinished] };
}

/** SQLITE_CORRUPT of sqlite3.h; the low byte is the kind of error. */
function isDamage(error: unknown): boolean {
  return isRecord(error) && Number(error.errcode) % 256 === 11;
}

/** Returns what SQLite finds damaged, each as the rest of a sentence. */
function damageFaults(database: DatabaseSync): readonly string[] {
  const found = database
    .prepare('PRAGMA quick_check(10)')
    .all()
    .map((row) => String(Object.values(row)[0]));
  return found.filter((text) => text !== 'ok').map((text) => `is damaged: ${text}`);
}

/** Yields the lines of the records, the oldest first, some at a time. */
export async function* exportedLines(file: string): AsyncGenerator<readonly string[]> {
  const database = await openForReading(file);
  try {
    const page = database.prepare('SELECT number, line FROM records WHERE number > ? ORDER BY number LIMIT 1000');
    let last = 0;
    for (;;) {
      const rows = page.all(last);
      if (rows.length === 0) return;
      last = Number(rows.at(-1)?.number);
      yield rows.map(({ line }) => String(line));
    }
  } finally {
    database.close();
  }
}
