import { renameSync } from 'node:fs';
import { exportedLines } from '../../src/admin/journal/verify.ts';
import type { AuditLine } from '../../src/admin/journal/record.ts';
import { DatabaseSync } from 'node:sqlite';

/** The lines of the records of a journal, the oldest first; none if it is not there. */
export async function linesOf(file: string): Promise<readonly string[]> {
  const lines: string[] = [];
  try {
    for await (const some of exportedLines(file)) lines.push(...some);
  } catch {
    // It is not there, or was not written yet.
  }
  return lines;
}

export async function recordsOf(file: string): Promise<readonly AuditLine[]> {
  return (await linesOf(file)).map((line) => JSON.parse(line) as AuditLine);
}

/** Changes a journal as somebody does who may write the file, past its triggers. */
export function tamper(file: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(file);
  try {
    const triggers = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").all();
    database.exec('DROP TRIGGER records_stay; DROP TRIGGER records_remain');
    for (const statement of statements) database.exec(statement);
    for (const { sql } of triggers) database.exec(String(sql));
  } finally {
    database.close();
  }
}

/** The text of a change as the journal keeps it; '' if it has none of this id. */
export function storedChange(file: string, id: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return String(database.prepare('SELECT change FROM changes WHERE id = ?').get(id)?.change ?? '');
  } finally {
    database.close();
  }
}

/** Takes a journal away, as a lost disk does; returns a function that brings it back. */
export function takeAway(file: string): () => void {
  renameSync(file, `${file}.away`);
  return () => renameSync(`${file}.away`, file);
}
