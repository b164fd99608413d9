import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import { feed } from '../../../support/programs.ts';
import { until, untilIs } from '../../../support/until.ts';
import { givenFile, givenJournal, givenRecord, linesOf } from './given-audit.ts';

/** An audit that nobody can open, as on a disk that does not answer; after `answer` it opens. */
function givenHangingAudit(file: string) {
  const lock = `${file}.writer`;
  feed('mkfifo', [lock], Buffer.alloc(0));
  const letGo = (): boolean => {
    try {
      // Fails where nobody reads, instead of waiting for somebody.
      closeSync(openSync(lock, constants.O_WRONLY | constants.O_NONBLOCK));
      return true;
    } catch {
      return false;
    }
  };
  // Immediates and the file system go on.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
    letGo();
  });
  return {
    async answer() {
      while (!letGo()) await setImmediate();
    },
  };
}

/** Lets time pass until the append has given up. */
async function refused(append: Promise<unknown>): Promise<{ readonly error: unknown; readonly afterMs: number }> {
  let settled: { readonly error: unknown } | undefined;
  append.then(
    () => (settled = { error: undefined }),
    (error: unknown) => (settled = { error }),
  );
  for (let afterMs = 0; afterMs < 60_000; afterMs += 500) {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    if (settled) return { ...settled, afterMs };
    vi.advanceTimersByTime(500);
  }
  throw new Error('waits for ever');
}

describe('an audit that does not open', () => {
  it('rejects its records after ten seconds, and is not opened a second time meanwhile', async () => {
    const file = givenFile();
    const { answer } = givenHangingAudit(file);
    const { journal, logged, failures } = givenJournal(file);

    const first = await refused(journal.append(givenRecord({ request: 'a' })));
    const second = await refused(journal.append(givenRecord({ request: 'b' })));
    const third = journal.append(givenRecord({ request: 'c' }));
    await answer();

    expect(first.error).toMatchObject({
      name: 'AuditError',
      reason: 'unwritable',
      message: `cannot write the audit ${file}: it is not open after 10 seconds; check that its disk answers, or choose another admin.audit_file; the next call tries again`,
    });
    expect(first.afterMs).toBe(10_000);
    expect(second).toEqual(first);
    expect(await third).toMatchObject({ seq: 1 });
    expect(linesOf(file)).toMatchObject([{ request: 'c' }]);
    expect(failures()).toBe(2);
    expect(logged.map(({ msg }) => msg)).toEqual(['audit cannot be written', 'audit opened', 'audit is written again']);
  });

  it('is closed if it opens after the journal was closed', async () => {
    const file = givenFile();
    const { answer } = givenHangingAudit(file);
    const { journal } = givenJournal(file);
    await refused(journal.append(givenRecord()));

    await journal.close();
    await answer();

    vi.useRealTimers();
    await untilIs(() => existsSync(`${file}.writer`), false);
    // Its lock is released in the same moment, and after the file is gone.
    const { journal: next } = givenJournal(file);
    const position = await until(
      () => next.append(givenRecord()).catch(() => undefined),
      (appended) => appended !== undefined,
    );
    expect(position).toMatchObject({ seq: 1 });
    expect((await verifyAudit(file)).faults).toEqual([]);
  });

  it('is refused at once if its folder cannot be made, though the system reports a missing parent', async () => {
    const { journal } = givenJournal('/proc/no-such-folder/deeper/audit.jsonl');

    await expect(journal.append(givenRecord())).rejects.toMatchObject({
      reason: 'unwritable',
      message:
        'cannot write the audit /proc/no-such-folder/deeper/audit.jsonl (ENOENT): its folder cannot be made there; choose another admin.audit_file',
    });
  });
});
