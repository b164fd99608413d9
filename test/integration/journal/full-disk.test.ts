import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toAuditError } from '../../../src/admin/journal/journal.ts';
import { verifyAudit } from '../../../src/admin/journal/verify.ts';
import { writeFully } from '../../../src/lib/disk.ts';
import { errorCode } from '../../../src/lib/check.ts';
import { feed } from '../../support/programs.ts';
import { givenJournal, givenRecord } from '../../unit/admin/journal/given-audit.ts';

const canMount = mayMount();

function run(program: string, ...args: readonly string[]): boolean {
  return feed(program, args, Buffer.alloc(0)).status === 0;
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-mount-'));
  const may = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', folder);
  if (may) run('umount', folder);
  else console.warn('NOT RUN: the tests that need to mount a small disk');
  rmdirSync(folder);
  return may;
}

/** A disk of 128 kB, gone with the test. */
function givenDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-disk-'));
  run('mount', '-t', 'tmpfs', '-o', 'size=128k', 'none', folder);
  onTestFinished(() => {
    run('umount', '--lazy', folder);
    rmdirSync(folder);
  });
  return folder;
}

/** Takes what room is left. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

it('tells a full disk from other troubles', async () => {
  const handle = await open('/dev/full', 'r+');
  onTestFinished(() => handle.close());

  const error: unknown = await writeFully(handle, Buffer.from('line'), 0).catch((thrown: unknown) => thrown);

  expect(toAuditError(error, 'audit.jsonl')).toMatchObject({
    reason: 'full',
    message: 'cannot write the audit audit.jsonl: no room is left (ENOSPC); make room, the next call tries again',
  });
});

describe.skipIf(!canMount)('an audit on a disk that fills up', () => {
  it('keeps what was written and nothing by halves, and goes on as soon as there is room', async () => {
    const folder = givenDisk();
    const file = join(folder, 'audit.jsonl');
    const { journal, failures, logged } = givenJournal(file);
    for (let count = 1; count <= 20; count += 1) await journal.append(givenRecord());
    const { size } = statSync(file);
    fill(join(folder, 'filler'));
    const many = Array.from({ length: 30 }, () => journal.append(givenRecord({ reason: 'x'.repeat(300) })));

    const outcomes = await Promise.allSettled([...many, journal.append(givenRecord({ reason: 'y'.repeat(9_000) }))]);
    const sizeWhenFull = statSync(file).size;
    rmSync(join(folder, 'filler'));
    const position = await journal.append(givenRecord());
    await journal.close();

    const acknowledged = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ reason }) => reason === 'full')).toBe(true);
    expect(failures()).toBeGreaterThan(0);
    if (acknowledged === 0) expect(sizeWhenFull).toBe(size);
    expect(position.seq).toBe(20 + acknowledged + 1);
    expect(await verifyAudit(file)).toMatchObject({ faults: [], lines: position.seq });
    expect((await verifyAudit(file)).torn).toBeUndefined();
    expect(logged.map(({ msg }) => msg)).toEqual([
      'audit opened',
      'audit cannot be written',
      'audit is written again',
      'audit closed',
    ]);
  });

  it('that is full from the start is begun once there is room', async () => {
    const folder = givenDisk();
    const file = join(folder, 'audit.jsonl');
    fill(join(folder, 'filler'));
    const { journal } = givenJournal(file);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'full' });
    rmSync(join(folder, 'filler'));

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 1 });
    expect(await verifyAudit(file)).toMatchObject({ faults: [], lines: 1 });
  });

  it('leaves an unfinished line of an earlier process as it was until there is room for the record that holds it', async () => {
    const folder = givenDisk();
    const file = join(folder, 'audit.jsonl');
    const first = givenJournal(file);
    await first.journal.append(givenRecord());
    await first.journal.close();
    const torn = `{"seq":2,"reason":"${'x'.repeat(3_600)}`;
    writeFileSync(file, torn, { flag: 'a' });
    const before = readFileSync(file, 'utf8');
    // The lock takes the only page that is left; the record that holds the line needs another.
    writeFileSync(`${file}.writer`, 'x');
    fill(join(folder, 'filler'));
    rmSync(`${file}.writer`);
    const { journal } = givenJournal(file);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'full' });
    const whenFull = readFileSync(file, 'utf8');
    rmSync(join(folder, 'filler'));
    await journal.append(givenRecord());

    expect(whenFull).toBe(before);
    const { lines, faults } = await verifyAudit(file);
    const recovered = (await journal.query({ limit: 1, event: 'recovered' }))[0];
    expect({ lines, faults }).toEqual({ lines: 3, faults: [] });
    expect(recovered?.torn).toMatchObject({ bytes: torn.length, text: torn });
  });
});
