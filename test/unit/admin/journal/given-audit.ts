import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type AuditJournalParts, createAuditJournal } from '../../../../src/admin/journal/journal.ts';
import { genesis, sealLine } from '../../../../src/admin/journal/chain.ts';
import type { AuditLine, AuditRecord } from '../../../../src/admin/journal/record.ts';
import { givenLog } from '../../scheduler/given-log.ts';
import { givenFolder } from '../../../support/folder.ts';

/** A folder of its own, and the audit in it that is not there yet. */
export function givenFile(): string {
  const folder = givenFolder();
  return join(folder, 'audit.jsonl');
}

export function givenRecord(known: Partial<AuditRecord> = {}): AuditRecord {
  return {
    event: 'intent',
    request: 'request-1',
    principal: 'ann',
    role: 'admin',
    appliance: 'lb-one',
    operation: 'actOnFarm',
    method: 'PUT',
    path: '/farms/shop/actions',
    body: { action: 'restart' },
    ...known,
  };
}

/** A journal that closes with the test, and what it reported. */
export function givenJournal(file: string, known: Partial<AuditJournalParts> = {}) {
  const { log, lines: logged } = givenLog();
  const written: number[] = [];
  let failures = 0;
  const journal = createAuditJournal({
    file,
    maxBytes: 1_048_576,
    now: () => Date.parse('2026-11-20T08:00:00Z'),
    log,
    onAppended: (count) => void written.push(count),
    onFailed: () => {
      failures += 1;
    },
    ...known,
  });
  onTestFinished(() => journal.close());
  return { journal, logged, written, failures: () => failures };
}

/** A new audit with so many records, and its journal, which is open. */
export async function givenRecords(count: number, known: Partial<AuditJournalParts> = {}) {
  const file = givenFile();
  const given = givenJournal(file, known);
  for (let number = 1; number <= count; number += 1) await given.journal.append(givenRecord());
  return { file, ...given };
}

/**
 * Records appended one after the other, in files of about that size, and the journal closed again.
 */
export async function givenAudit(file: string, count: number, maxBytes = 1_048_576): Promise<void> {
  const { journal } = givenJournal(file, { maxBytes });
  for (let number = 1; number <= count; number += 1)
    await journal.append(givenRecord({ request: `request-${number}` }));
  await journal.close();
}

/** An audit made by hand, quicker than one that is synced; its head is that of the last line. */
export function writtenAudit(file: string, count: number): readonly string[] {
  const lines: string[] = [];
  let last = genesis;
  for (let number = 1; number <= count; number += 1) {
    const record = givenRecord({ request: `request-${number}` });
    const line = sealLine(record, { time: '2026-11-20T08:00:00.000Z', last, after: undefined });
    lines.push(line.bytes.toString());
    last = line.position;
  }
  writeFileSync(file, lines.join(''));
  writeFileSync(`${file}.head`, headText(last.seq, last.hash));
  return lines;
}

export function headText(seq: number, hash: string): string {
  return `${String(seq).padStart(16, '0')} ${hash}\n`;
}

export function linesOf(path: string): readonly AuditLine[] {
  return textLinesOf(path).map((line) => JSON.parse(line) as AuditLine);
}

export function textLinesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}

/** The names in the folder of a file that begin with its own, without that. */
export function besides(file: string): readonly string[] {
  const folder = join(file, '..');
  return readdirSync(folder)
    .map((name) => name.replace('audit.jsonl', ''))
    .sort();
}
