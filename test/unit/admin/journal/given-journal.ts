import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Journal, type JournalParts } from '../../../../src/admin/journal/journal.ts';
import type { AuditRecord } from '../../../../src/admin/journal/record.ts';
import { givenFolder } from '../../../support/folder.ts';
import { givenLog } from '../../scheduler/given-log.ts';

/** A folder of its own, and the journal in it that is not there yet. */
export function givenFile(): string {
  return join(givenFolder(), 'journal.db');
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
export function givenJournal(file: string, known: Partial<JournalParts> = {}) {
  const { log, lines: logged } = givenLog();
  const written: number[] = [];
  let failures = 0;
  const journal = new Journal({
    file,
    now: () => Date.parse('2026-11-20T08:00:00Z'),
    log,
    recordLog: log.child({ part: 'audit' }),
    onAppended: (count) => void written.push(count),
    onFailed: () => {
      failures += 1;
    },
    ...known,
  });
  onTestFinished(() => journal.close());
  return { journal, logged, written, failures: () => failures };
}

/** A closed journal with so many records. */
export async function givenRecords(count: number): Promise<string> {
  const file = givenFile();
  const { journal } = givenJournal(file);
  await Promise.all(
    Array.from({ length: count }, (_, index) => journal.append(givenRecord({ request: `request-${index + 1}` }))),
  );
  await journal.close();
  return file;
}
