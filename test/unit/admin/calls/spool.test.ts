import { once } from 'node:events';
import { readdir, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Intake } from '../../../../src/admin/calls/spool.ts';
import { givenSpool } from '../../../support/given-spool.ts';
import { keptBytes } from '../../../support/kept-memory.ts';
import { openFiles } from '../../../support/open-files.ts';
import { until, untilIs } from '../../../support/until.ts';

const pace = { graceMs: 50, tooSlow: () => new Error('too slow') };
const patient = { ...pace, graceMs: 60_000 };

function intake(source: Readable, parts: Partial<Intake> = {}): Intake {
  return { principal: 'alice', source, pace: patient, signal: new AbortController().signal, ...parts };
}

describe('a spooled body', () => {
  it('is read as it was written, for any length, also while it grows', async () => {
    const { spool } = await givenSpool();
    for (const length of [0, 1, 65_535, 65_536, 65_537, 300_001]) {
      const content = Buffer.from(Array.from({ length }, (_, index) => index % 251));
      const source = new PassThrough();
      const spooled = await spool.take(intake(source));
      const reading = buffer(spooled.read(patient));
      for (let at = 0; at < length; at += 7_000) source.write(content.subarray(at, at + 7_000));
      source.end();

      expect((await reading).equals(content), String(length)).toBe(true);
      expect(await spooled.whole).toBe(length);
      spooled.release();
    }
  });

  it('keeps no memory for each of its chunks', async () => {
    const { spool } = await givenSpool();
    const end = Promise.withResolvers<void>();
    const chunks = 10_000;
    async function* singleBytes() {
      for (let count = 0; count < chunks; count += 1) yield Buffer.from('x');
      await end.promise;
    }
    let received = 0;
    const onChunk = () => void (received += 1);
    const source = Readable.from(singleBytes(), { objectMode: false });

    const kept = await keptBytes(async () => {
      const spooled = await spool.take(intake(source, { onChunk }));
      void spooled.whole.then(() => spooled.release());
      await untilIs(() => received, chunks);
    });

    expect(kept).toBeLessThan(1_000_000);
    end.resolve();
  });

  it('is in an unnamed file of this user alone, which is closed after its reader', async () => {
    const { spool, folder } = await givenSpool();
    const spooled = await spool.take(intake(Readable.from([Buffer.alloc(100_000)])));
    await spooled.whole;

    const [file, ...others] = openFiles(folder);
    const { mode, nlink, size } = await stat(`/proc/self/fd/${file?.fd}`);
    const reader = spooled.read(patient);
    spooled.release();

    expect(others).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    expect({ mode: mode & 0o777, nlink, size }).toEqual({ mode: 0o600, nlink: 0, size: 100_000 });
    expect(openFiles(folder)).toHaveLength(1);
    expect((await buffer(reader)).length).toBe(100_000);
    await untilIs(() => openFiles(folder).length, 0);
  });

  it('uses the shares of its principal and of all, and returns them', async () => {
    const { spool } = await givenSpool({ maxBytesPerPrincipal: 100, maxBytes: 150 });
    const endless = new PassThrough();
    const first = await spool.take(intake(endless, { bytes: 80 }));

    await expect(spool.take(intake(endless, { bytes: 30 }))).rejects.toMatchObject({
      code: 'spool_unavailable',
      status: 503,
      message: expect.stringContaining('alice has 80 bytes of bodies under way already, 100 are the most'),
      headers: { 'retry-after': '10' },
    });
    const second = await spool.take(intake(new PassThrough().end(), { principal: 'bob', bytes: 70 }));
    await expect(spool.take(intake(endless, { principal: 'carol', bytes: 10 }))).rejects.toThrow('150 are the most');
    second.release();
    const third = await until(
      () => spool.take(intake(endless, { principal: 'carol', bytes: 10 })).catch(() => undefined),
      (taken) => taken !== undefined,
    );

    expect(third).toBeDefined();
    endless.end();
    for (const body of [first, third]) body?.release();
  });

  it('has room for a body of a third one, whatever two that share all of it send', async () => {
    const { spool } = await givenSpool({ maxBytesPerPrincipal: 200, maxBytes: 400, keptBytes: 100 });
    const endless = new PassThrough();
    const take = (principal: string) => spool.take(intake(endless, { principal, bytes: 100 }));
    const taken = [await take('alice'), await take('alice'), await take('bob')];

    await expect(take('bob')).rejects.toThrow('300 are the most now');
    taken.push(await take('carol'));
    await expect(take('dave')).rejects.toThrow('400 are the most now');

    endless.end();
    for (const body of taken) body.release();
  });

  it('keeps disk space free for the audit, and counts reserved space as used before it is written', async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    const free = bavail * bsize;
    const { spool } = await givenSpool({ keepFreeBytes: free / 2, maxBytes: free, maxBytesPerPrincipal: free });
    const unwritten = new PassThrough();
    const first = await spool.take(intake(unwritten, { bytes: free / 3 }));

    await expect(spool.take(intake(new PassThrough(), { bytes: free / 3 }))).rejects.toThrow('free for the audit');

    unwritten.end();
    first.release();
  });

  it('is refused if no file can be created', async () => {
    const { spool } = await givenSpool({ folder: '/dev/null/x' });

    await expect(spool.take(intake(new PassThrough()))).rejects.toMatchObject({
      code: 'spool_unavailable',
      message: expect.stringContaining('it cannot be kept on disk (ENOTDIR)'),
    });
  });

  it('that is too slow, fails or is aborted fails for its readers, and its source stays open', async () => {
    const { spool } = await givenSpool();
    const leaving = new AbortController();
    const slow = new PassThrough();
    const failing = new PassThrough();
    const unwanted = new PassThrough();
    const bodies = await Promise.all([
      spool.take(intake(slow, { pace })),
      spool.take(intake(failing)),
      spool.take(intake(unwanted, { signal: leaving.signal })),
    ]);
    const readers = bodies.map((body) => buffer(body.read(patient)));

    failing.destroy(new Error('cut'));
    leaving.abort(new Error('unwanted'));

    const reasons = await Promise.all(readers.map((reader) => reader.catch((error: unknown) => String(error))));
    expect(reasons).toEqual(['Error: too slow', 'Error: cut', 'Error: unwanted']);
    expect([slow.destroyed, unwanted.destroyed]).toEqual([false, false]);
    for (const body of bodies) body.release();
  });

  it('that keeps the minimum rate may take long', async () => {
    const { spool } = await givenSpool();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const source = new PassThrough();
    const spooled = await spool.take(intake(source, { pace }));
    const pieces = spooled.read(patient).iterator();

    // Slightly faster than 16 KiB a second, for ten times the grace.
    for (let piece = 1; piece <= 10; piece += 1) {
      source.write(Buffer.alloc(1_000));
      await pieces.next();
      vi.advanceTimersByTime(pace.graceMs);
    }
    source.end();

    expect(await spooled.whole).toBe(10_000);
    await pieces.return?.();
    spooled.release();
  });

  it('fails, and nothing else does, if its source fails while the file is opened', async () => {
    const { spool } = await givenSpool();
    const source = new PassThrough();

    const taking = spool.take(intake(source));
    source.destroy(new Error('cut'));

    const spooled = await taking;
    await expect(spooled.whole).rejects.toThrow('cut');
    spooled.release();
  });

  it('is received to its end without readers', async () => {
    const { spool } = await givenSpool();
    const source = new PassThrough();
    const spooled = await spool.take(intake(source));
    const reader = spooled.read(patient);
    spooled.release();
    source.write('ab');

    reader.destroy();
    source.end('c');

    expect(await spooled.whole).toBe(3);
  });
});

describe('a reader', () => {
  it('that is too slow is ended after the body is complete', async () => {
    const { spool } = await givenSpool();
    const spooled = await spool.take(intake(Readable.from([Buffer.alloc(500_000)])));
    const reader = spooled.read(pace);

    spooled.release();
    const [error] = (await once(reader, 'error')) as [Error];

    expect(error.message).toBe('too slow');
  });

  it('that keeps the minimum rate is not ended, and its bytes are counted', async () => {
    const { spool } = await givenSpool();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let given = 0;
    const spooled = await spool.take(intake(Readable.from([Buffer.alloc(500_000)])));

    await spooled.whole;
    const reader = spooled.read(pace, (bytes) => void (given += bytes));
    spooled.release();
    let read = 0;
    for await (const part of reader) {
      read += (part as Buffer).length;
      vi.advanceTimersByTime(pace.graceMs);
    }

    expect([read, given]).toEqual([500_000, 500_000]);
  });
});
