import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorCode } from '../../../src/lib/check.ts';
import { createFileAccess, createFiles, readFileText } from '../../../src/config/files.ts';

const never = () => new Promise<string>(() => undefined);

describe('a file that never ends its read', () => {
  it('is given up after a time, and others are read', async () => {
    // A read of a file on a busy machine has all the time it needs.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const access = createFileAccess(20);

    const hung = access('/hung', never).catch(errorCode);
    vi.advanceTimersByTime(20);
    expect(await hung).toBe('ETIMEDOUT');

    expect(await readFileText(import.meta.filename, 'configuration', access)).toHaveProperty('value');
  });

  it('is not read again before it has ended', async () => {
    const access = createFileAccess(20);
    const { promise, resolve } = Promise.withResolvers<string>();
    await expect(access('/hung', () => promise)).rejects.toThrow();

    await expect(access('/hung', () => Promise.reject(new Error('read again')))).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
    resolve('');
    await promise;
    await new Promise(setImmediate);

    expect(await access('/hung', () => Promise.resolve('read'))).toBe('read');
  });

  it('does not take all threads with others of its kind', async () => {
    const access = createFileAccess(20);
    await Promise.allSettled([access('/a', never), access('/b', never)]);

    await expect(access('/c', () => Promise.resolve('read'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('is a problem with a remedy', async () => {
    const files = createFiles([], {
      access: () => Promise.reject(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })),
    });

    expect(await files.readText('/hung', 'key')).toEqual({
      problem: 'cannot be read: nothing came within 10 s; check the disk or the network drive that it is on',
    });
  });
});
