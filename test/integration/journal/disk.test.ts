import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportedLines, verifyJournal } from '../../../src/admin/journal/verify.ts';
import { audit } from '../../../src/commands/audit.ts';
import { fill, givenDisk, mayMount, run } from '../../support/small-disk.ts';
import { givenFile, givenJournal, givenRecord } from '../../unit/admin/journal/given-journal.ts';
import { givenContext } from '../../unit/commands/given-command.ts';

describe.skipIf(!mayMount())('a journal on a disk', () => {
  it('keeps exactly what was acknowledged when the disk fills up, and continues once there is room', async () => {
    const folder = givenDisk();
    const file = join(folder, 'journal.db');
    const { journal, failures } = givenJournal(file);
    for (let count = 1; count <= 20; count += 1) await journal.append(givenRecord());
    fill(join(folder, 'filler'));
    const many = Array.from({ length: 60 }, (_, index) => index);
    const acknowledged: number[] = [];
    const refused: unknown[] = [];

    for (const index of many) {
      await journal.append(givenRecord({ request: `full-${index}`, reason: 'x'.repeat(9_000) })).then(
        ({ seq }) => acknowledged.push(seq),
        (error: unknown) => refused.push(error),
      );
    }
    rmSync(join(folder, 'filler'));
    const position = await journal.append(givenRecord());
    await journal.close();

    expect(refused.length).toBeGreaterThan(0);
    expect(refused.map((error) => (error as { reason: string }).reason)).toEqual(refused.map(() => 'full'));
    expect(failures()).toBe(refused.length);
    expect(position.seq).toBe(20 + acknowledged.length + 1);
    expect(await verifyJournal(file)).toMatchObject({ faults: [], records: position.seq });
  });

  it('acknowledges exactly what is stored when there is room for a record but not for its checkpoint', async () => {
    const folder = givenDisk('2m');
    const file = join(folder, 'journal.db');
    const { journal } = givenJournal(file);
    await journal.append(givenRecord());
    const acknowledged: string[] = [];
    const refused: string[] = [];

    for (let pages = 1; pages <= 24; pages += 1) {
      const request = `room-for-${pages}`;
      writeFileSync(join(folder, 'spare'), Buffer.alloc(pages * 4_096));
      fill(join(folder, 'filler'));
      rmSync(join(folder, 'spare'));
      await journal.append(givenRecord({ request }), { changes: new Map([[request, 'x'.repeat(16_000)]]) }).then(
        () => acknowledged.push(request),
        () => refused.push(request),
      );
      rmSync(join(folder, 'filler'));
    }
    await journal.close();
    const lines: string[] = [];
    for await (const page of exportedLines(file)) lines.push(...page);

    expect(refused.length * acknowledged.length).toBeGreaterThan(0);
    expect(lines.filter((line) => refused.some((request) => line.includes(`"${request}"`)))).toEqual([]);
    expect(acknowledged.filter((request) => !lines.some((line) => line.includes(`"${request}"`)))).toEqual([]);
  });

  it('starts once there is room when the disk is full from the start', async () => {
    const folder = givenDisk();
    const file = join(folder, 'journal.db');
    fill(join(folder, 'filler'));
    const { journal } = givenJournal(file);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'full' });
    rmSync(join(folder, 'filler'));

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 1 });
    expect(await verifyJournal(file)).toMatchObject({ faults: [], records: 1 });
  });

  it('refuses with a remedy when the disk becomes read-only, and continues when it is writable again', async () => {
    const folder = givenDisk();
    const file = join(folder, 'journal.db');
    const first = givenJournal(file).journal;
    await first.append(givenRecord());
    await first.close();
    run('mount', '-o', 'remount,ro', folder);
    const { journal } = givenJournal(file);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({
      reason: 'unwritable',
      message: expect.stringContaining('mount it for writing'),
    });
    expect(await verifyJournal(file)).toMatchObject({ faults: [], records: 1 });
    run('mount', '-o', 'remount,rw', folder);

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 2 });
  });

  it('is to be copied before it is verified when its write-ahead log lies on a disk that is read-only', async () => {
    const folder = givenDisk();
    const file = givenFile();
    const copy = join(folder, 'journal.db');
    const { journal } = givenJournal(file);
    await journal.append(givenRecord());
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`);
    run('mount', '-o', 'remount,ro', folder);
    const { context, warned } = givenContext({ arguments: ['verify', copy] });

    expect(await audit(context)).toBe(1);

    expect(warned.join()).toContain('to a folder that may be written, and name the copy');
  });
});
