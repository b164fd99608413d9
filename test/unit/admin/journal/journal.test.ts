import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAuditFile } from '../../../../src/admin/journal/opening.ts';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import { feed } from '../../../support/programs.ts';
import { givenLog } from '../../scheduler/given-log.ts';
import {
  besides,
  givenAudit,
  givenFile,
  givenJournal,
  givenRecord,
  givenRecords,
  headText,
  linesOf,
  textLinesOf,
  writtenAudit,
} from './given-audit.ts';

describe('an audit journal', () => {
  it('writes one line per record, numbered from 1 without gaps, each with the hash of the one before', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);

    const positions = [
      await journal.append(givenRecord({ event: 'intent', reason: 'maintenance – ünïcode\nand a newline' })),
      await journal.append(givenRecord({ event: 'outcome', status: 200, duration_ms: 12 })),
      await journal.append(givenRecord({ event: 'denied', code: 'role_too_low' })),
    ];

    const lines = linesOf(file);
    expect(lines.map(({ seq, event }) => [seq, event])).toEqual([
      [1, 'intent'],
      [2, 'outcome'],
      [3, 'denied'],
    ]);
    expect(lines.map(({ prev }) => prev)).toEqual(['0'.repeat(64), positions[0]?.hash, positions[1]?.hash]);
    expect(lines.map(({ seq, hash }) => ({ seq, hash }))).toEqual(positions);
    expect(lines[0]).toMatchObject({
      time: '2026-11-20T08:00:00.000Z',
      reason: 'maintenance – ünïcode\nand a newline',
      body: { action: 'restart' },
    });
    expect(readFileSync(`${file}.head`, 'utf8')).toBe(headText(3, positions[2]?.hash ?? ''));
  });

  it('can be checked with sed and sha256sum alone', async () => {
    const file = givenFile();
    await givenAudit(file, 2);

    for (const line of textLinesOf(file)) {
      const text = feed('sed', ['-z', 's/,"hash":"[^"]*"}$/}/'], Buffer.from(line)).stdout;
      const sum = feed('sha256sum', [], text).stdout.toString().slice(0, 64);

      expect(line).toContain(`"hash":"${sum}"}`);
    }
  });

  it('numbers 200 parallel appends in order, with few writes', async () => {
    const { journal, written } = givenJournal(givenFile());

    const positions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => journal.append(givenRecord({ request: `request-${index}` }))),
    );

    expect(positions.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(new Set(positions.map(({ hash }) => hash)).size).toBe(200);
    expect(written.reduce((sum, count) => sum + count)).toBe(200);
    expect(written.length).toBeLessThanOrEqual(3);
  });

  it('gives its folder and files to its own user alone, and leaves an empty lock file', async () => {
    const file = join(dirname(givenFile()), 'a', 'b', 'audit.jsonl');
    const { journal } = givenJournal(file);

    await journal.append(givenRecord());
    const during = besides(file);
    await journal.close();

    expect(during).toEqual(['', '.head', '.lock', '.writer']);
    expect(besides(file)).toEqual(['', '.head', '.lock']);
    expect(statSync(`${file}.lock`).size).toBe(0);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(dirname(file))).mode & 0o777).toBe(0o700);
    expect([file, `${file}.head`].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('opens nothing before the first append, and continues after the last line when restarted', async () => {
    const file = givenFile();
    await givenAudit(file, 3);
    const { journal, logged } = givenJournal(file);

    const before = { logged: [...logged], names: besides(file) };
    const position = await journal.append(givenRecord());

    expect(before).toEqual({ logged: [], names: ['', '.head', '.lock'] });
    expect(position.seq).toBe(4);
    expect(logged[0]).toMatchObject({ msg: 'audit opened', seq: 3, hash: linesOf(file)[2]?.hash });
    expect(await verifyAudit(file)).toMatchObject({ lines: 4, faults: [] });
  });

  it('refuses records after it was closed, and writes those that came before', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);

    const first = journal.append(givenRecord());
    const closing = journal.close();
    const late = journal.append(givenRecord());

    await expect(late).rejects.toMatchObject({ reason: 'closed', message: expect.stringContaining('stopping') });
    await closing;
    expect(await first).toMatchObject({ seq: 1 });
    expect(linesOf(file)).toHaveLength(1);
  });

  it('writes through no link that has the name of its draft', async () => {
    const file = givenFile();
    const other = `${file}.other`;
    writeFileSync(other, 'not of the audit');
    symlinkSync(other, `${file}.writer.new`);
    const { journal } = givenJournal(file);

    await journal.append(givenRecord());

    expect(readFileSync(other, 'utf8')).toBe('not of the audit');
    expect(statSync(`${file}.writer`).mode & 0o777).toBe(0o600);
  });

  it('logs its last line when it closes: a copy of the log shows lines that are removed while it is closed', async () => {
    const { file, journal, logged } = await givenRecords(2);

    await journal.close();

    expect(logged.at(-1)).toMatchObject({ msg: 'audit closed', file, seq: 2, hash: linesOf(file)[1]?.hash });
  });
});

describe('an audit that grows', () => {
  it('continues in a new file before one exceeds its size, and the chain spans both', async () => {
    const file = givenFile();
    await givenAudit(file, 10, 1_500);

    const names = besides(file);
    const rotated = names.filter((name) => /^\.\d{16}$/.test(name));
    const lines = [...rotated, ''].flatMap((name) => linesOf(`${file}${name}`));

    expect(rotated.length).toBeGreaterThan(1);
    for (const name of rotated) {
      expect(Number(name.slice(1))).toBe(linesOf(`${file}${name}`).at(-1)?.seq);
      expect(statSync(`${file}${name}`).size).toBeLessThanOrEqual(1_500);
    }
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    expect(lines.slice(1).every(({ prev }, index) => prev === lines[index]?.hash)).toBe(true);
    expect(linesOf(file)[0]?.after).toBe(`audit.jsonl${rotated.at(-1)}`);
    expect(await verifyAudit(file)).toMatchObject({ lines: 10, faults: [] });
  });

  it('divides records of one batch between files', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file, { maxBytes: 2_000 });

    const positions = await Promise.all(Array.from({ length: 50 }, () => journal.append(givenRecord())));

    expect(positions.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    expect(await verifyAudit(file)).toMatchObject({ lines: 50, faults: [] });
  });

  it('writes a record that is larger than a file may be into a file of its own', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file, { maxBytes: 1_000 });

    for (const length of [10, 3_000, 10]) await journal.append(givenRecord({ reason: 'x'.repeat(length) }));

    expect(besides(file)).toEqual(['', '.0000000000000001', '.0000000000000002', '.head', '.lock', '.writer']);
    expect(await verifyAudit(file)).toMatchObject({ lines: 3, faults: [] });
  });

  it.each([
    ['before the new file was made', (file: string) => rmSync(file)],
    ['after it was made', (file: string) => writeFileSync(file, '')],
  ])('continues from the rotated file when it was stopped %s', async (_, leave) => {
    const file = givenFile();
    await givenAudit(file, 3);
    renameSync(file, `${file}.0000000000000003`);
    writeFileSync(file, '');
    leave(file);

    const { journal } = givenJournal(file);
    const position = await journal.append(givenRecord());

    expect(position.seq).toBe(4);
    expect(linesOf(file)).toMatchObject([{ seq: 4, after: 'audit.jsonl.0000000000000003' }]);
    expect(await verifyAudit(file)).toMatchObject({ lines: 4, faults: [] });
  });

  it('never overwrites a rotated file', async () => {
    const { file, journal } = await givenRecords(1, { maxBytes: 500 });
    writeFileSync(`${file}.0000000000000001`, 'evidence');

    const next = journal.append(givenRecord());

    await expect(next).rejects.toMatchObject({ reason: 'broken' });
    expect(textLinesOf(file)).toHaveLength(1);
  });
});

describe('a query of the journal', () => {
  it('returns the newest first, across files, up to the limit', async () => {
    const file = givenFile();
    await givenAudit(file, 20, 2_000);
    const { journal } = givenJournal(file);

    const seqs = async (limit: number): Promise<readonly number[]> =>
      (await journal.query({ limit })).map(({ seq }) => seq);

    expect(await seqs(3)).toEqual([20, 19, 18]);
    expect(await seqs(1_000)).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
    expect(await seqs(0)).toEqual([]);
  });

  it('filters by principal, appliance, operation and event', async () => {
    const { journal } = givenJournal(givenFile());
    await journal.append(givenRecord({ principal: 'ann', appliance: 'lb-one' }));
    await journal.append(givenRecord({ principal: 'bob', appliance: 'lb-two', event: 'outcome' }));
    await journal.append(givenRecord({ principal: 'bob', appliance: 'lb-one', operation: 'deleteFarm' }));

    const found = async (wanted: Record<string, string>): Promise<readonly number[]> =>
      (await journal.query({ limit: 10, ...wanted })).map(({ seq }) => seq);

    expect(await found({ principal: 'bob' })).toEqual([3, 2]);
    expect(await found({ appliance: 'lb-one' })).toEqual([3, 1]);
    expect(await found({ operation: 'deleteFarm' })).toEqual([3]);
    expect(await found({ event: 'outcome' })).toEqual([2]);
    expect(await found({ principal: 'ann', operation: 'deleteFarm' })).toEqual([]);
  });

  it('returns nothing before there is an audit, and makes none', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);

    expect(await journal.query({ limit: 10 })).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  it('returns lines longer than a block, and leaves out what is no line', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    const reason = 'x'.repeat(600_000);
    await journal.append(givenRecord({ reason }));
    await journal.append(givenRecord({ reason: 'short' }));
    await journal.close();
    writeFileSync(file, '{"seq":3,"time":"20', { flag: 'a' });

    const lines = await journal.query({ limit: 10 });

    expect(lines.map((line) => line.reason)).toEqual(['short', reason]);
  });

  it('leaves out lines that are not synced yet', async () => {
    const { file, journal } = await givenRecords(1);
    writeFileSync(file, `${textLinesOf(file)[0]?.replace('"seq":1', '"seq":2')}\n`, { flag: 'a' });

    const lines = await journal.query({ limit: 10 });

    expect(lines.map(({ seq }) => seq)).toEqual([1]);
  });
});

describe('a file that cannot be written', () => {
  it('is named with a remedy, and written again as soon as that is possible', async () => {
    const file = join(givenFile(), 'audit.jsonl');
    writeFileSync(dirname(file), 'a file where the folder should be');
    const { journal, written, failures, logged } = givenJournal(file);

    const refused = [journal.append(givenRecord()), journal.append(givenRecord())];
    for (const append of refused) await expect(append).rejects.toMatchObject({ reason: 'unwritable' });
    await expect(journal.append(givenRecord())).rejects.toThrow(`cannot write the audit ${file} (`);
    rmSync(dirname(file));
    const position = await journal.append(givenRecord());

    expect(position.seq).toBe(1);
    expect(written).toEqual([1]);
    expect(failures()).toBe(3);
    expect(logged.map(({ msg }) => msg)).toEqual(['audit cannot be written', 'audit opened', 'audit is written again']);
  });

  const otherKinds: readonly (readonly [kind: string, make: (path: string) => void])[] = [
    ['a named pipe', (path) => feed('mkfifo', [path], Buffer.alloc(0))],
    ['a device', (path) => symlinkSync('/dev/full', path)],
    ['a folder', (path) => mkdirSync(path)],
  ];

  it.each(
    otherKinds.flatMap(([kind, make]) =>
      ['', '.head', '.lock', '.0000000000000001'].map(
        (suffix) => [`audit.jsonl${suffix}`, kind, make, suffix] as const,
      ),
    ),
  )('is refused at once, with a remedy, while %s is %s', async (name, kind, make, suffix) => {
    const file = givenFile();
    make(`${file}${suffix}`);

    await expect(givenJournal(file).journal.append(givenRecord())).rejects.toMatchObject({
      reason: 'unwritable',
      message: expect.stringMatching(new RegExp(`${name} is ${kind}, not a regular file; move it away`)),
    });
  });

  it('begins a new chain after all files were moved away, only with a restart', async () => {
    const { file, journal, failures } = await givenRecords(2);
    for (const name of ['', '.head']) renameSync(`${file}${name}`, join(dirname(file), `kept${name}`));

    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const error: unknown = await journal.append(givenRecord()).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'broken' });
      expect(String(error)).toContain('was there up to line 2, and is gone');
      expect(String(error)).toContain('restart the exporter to begin a new chain');
    }
    await journal.close();
    const position = await givenJournal(file).journal.append(givenRecord());

    expect(failures()).toBe(2);
    expect(besides(file)).toEqual(['', '.head', '.lock', '.writer', 'kept', 'kept.head']);
    expect(position.seq).toBe(1);
    expect(await verifyAudit(file)).toMatchObject({ lines: 1, faults: [] });
  });

  it('is noticed when all files are removed, and no empty one is made that would verify as whole', async () => {
    const { file, journal } = await givenRecords(1);
    for (const name of ['', '.head', '.lock', '.writer']) rmSync(`${file}${name}`);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'broken' });

    expect(besides(file)).toEqual([]);
    expect((await verifyAudit(file)).faults).toMatchObject([{ what: 'is not there' }]);
  });

  it('is noticed when an older copy replaces it, until the right one is back', async () => {
    const file = givenFile();
    const { journal } = givenJournal(file);
    const copy = (from: string, to: string): void => {
      for (const name of ['', '.head']) copyFileSync(`${from}${name}`, `${to}${name}`);
    };
    await journal.append(givenRecord());
    copy(file, `${file}.old`);
    await journal.append(givenRecord());
    await journal.append(givenRecord());
    copy(file, `${file}.new`);

    copy(`${file}.old`, file);
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await expect(journal.append(givenRecord())).rejects.toMatchObject({
        reason: 'broken',
        message: expect.stringContaining('this exporter knows of line number 3: lines 2 to 3 are missing at the end'),
      });
    }
    copy(`${file}.new`, file);

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 4 });
    expect(await verifyAudit(file)).toMatchObject({ lines: 4, faults: [] });
  });

  it('is noticed when another audit replaces it, even a longer one', async () => {
    const { file, journal } = await givenRecords(2);
    for (const name of ['', '.head', '.lock', '.writer']) rmSync(`${file}${name}`);
    writtenAudit(file, 5);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({
      reason: 'broken',
      message: expect.stringContaining('this exporter knows of another line number 2 than the one that is there'),
    });
  });

  it('permits the removal of rotated files while it is open', async () => {
    const { file, journal } = await givenRecords(8, { maxBytes: 1_500 });
    const { files } = await verifyAudit(file);
    for (const older of files.slice(0, -1)) rmSync(older);
    // Makes the journal look again.
    renameSync(file, `${file}.away`);
    copyFileSync(`${file}.away`, file);

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 9 });
    expect(await verifyAudit(file)).toMatchObject({ faults: [] });
  });

  it('continues after a rotation that could make no new file', async () => {
    const { file, journal } = await givenRecords(1);
    renameSync(file, `${file}.0000000000000001`);

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 2 });
    expect(await verifyAudit(file)).toMatchObject({ lines: 2, faults: [] });
  });
});

describe('the lock of an audit', () => {
  it('refuses a second journal until the first is closed', async () => {
    const { file, journal: first } = await givenRecords(1);
    const { journal: second } = givenJournal(file);

    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    const who = `process ${process.pid} on ${hostname()} (PID namespace ${namespace}) has written it since 2026-11-20T08:00:00.000Z`;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await expect(second.append(givenRecord())).rejects.toMatchObject({
        reason: 'locked',
        message: `cannot write the audit ${file}: ${who}; stop that exporter, or give each one an admin.audit_file of its own; the next call tries again`,
      });
    }
    expect(await first.append(givenRecord())).toMatchObject({ seq: 2 });
    await first.close();

    expect(await second.append(givenRecord())).toMatchObject({ seq: 3 });
  });

  it.each([
    [
      'a process that was killed',
      '{"id":"a","pid":1,"host":"a","pidNamespace":"1","since":"2026-11-20T08:00:00.000Z"}\n',
    ],
    ['a process that had no room to say which', ''],
  ])('is no longer good when it is of %s', async (_, text) => {
    const file = givenFile();
    writeFileSync(`${file}.lock`, '');
    writeFileSync(`${file}.writer`, text);

    expect(await givenJournal(file).journal.append(givenRecord())).toMatchObject({ seq: 1 });
  });

  it('cannot be taken while its file holds the text of an older release, and the message says what to do', async () => {
    const file = givenFile();
    writeFileSync(`${file}.lock`, '1 2 a\n');
    const { journal } = givenJournal(file);

    await expect(journal.append(givenRecord())).rejects.toMatchObject({
      reason: 'unwritable',
      message: expect.stringContaining(
        `${file}.lock cannot be taken: it is not empty; stop the older exporter that made it, then remove it`,
      ),
    });
    rmSync(`${file}.lock`);

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 1 });
  });

  it('does not refuse its own journal when the folder was moved and came back', async () => {
    const file = join(dirname(givenFile()), 'data', 'audit.jsonl');
    const { journal } = givenJournal(file);
    await journal.append(givenRecord());
    const away = `${dirname(file)}.away`;

    renameSync(dirname(file), away);
    await expect(journal.append(givenRecord())).rejects.toMatchObject({ reason: 'broken' });
    renameSync(away, dirname(file));

    expect(await journal.append(givenRecord())).toMatchObject({ seq: 2 });
    expect(await verifyAudit(file)).toMatchObject({ lines: 2, faults: [] });
  });

  it('is checked: after another exporter removed and took it, the first one writes nothing until the other is gone', async () => {
    const { file, journal: first } = await givenRecords(1);
    rmSync(`${file}.lock`);
    const { journal: second } = givenJournal(file);
    await second.append(givenRecord());

    for (let attempt = 1; attempt <= 2; attempt += 1)
      await expect(first.append(givenRecord())).rejects.toMatchObject({ reason: 'locked' });
    expect(await second.append(givenRecord())).toMatchObject({ seq: 3 });
    await second.close();

    expect(await first.append(givenRecord())).toMatchObject({ seq: 4 });
    expect(await verifyAudit(file)).toMatchObject({ lines: 4, faults: [] });
  });

  it('that is lost during a write leaves the line unacknowledged and the head unchanged', async () => {
    const file = givenFile();
    const parts = { file, maxBytes: 1_048_576, now: Date.now, log: givenLog().log };
    const opened = await openAuditFile(parts, undefined);
    onTestFinished(() => opened.close());
    const entries = [{ record: givenRecord(), time: '2026-11-20T08:00:00.000Z' }];
    await opened.write(entries);
    const head = readFileSync(`${file}.head`, 'latin1');
    // Another process takes the lock after this one has looked whether it has it.
    writeFileSync(
      `${file}.writer`,
      '{"id":"b","pid":1,"host":"b","pidNamespace":"1","since":"2026-11-20T08:00:00.000Z"}\n',
    );

    const writing = opened.write(entries);

    await expect(writing).rejects.toMatchObject({
      reason: 'locked',
      message: expect.stringContaining('has taken its lock'),
    });
    expect(opened.last.seq).toBe(1);
    expect(readFileSync(`${file}.head`, 'latin1')).toBe(head);
  });
});
