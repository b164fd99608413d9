import { expect, it, onTestFinished, vi } from 'vitest';
import { errorCode } from '../../../src/lib/check.ts';
import { createFileAccess } from '../../../src/lib/file-access.ts';

const never = () => new Promise<string>(() => undefined);

it('a hung file read times out, and other files are read', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const access = createFileAccess(20);

  const hung = access('/hung', never).catch(errorCode);
  vi.advanceTimersByTime(20);
  expect(await hung).toBe('ETIMEDOUT');

  expect(await access('/other', () => Promise.resolve('read'))).toBe('read');
});

it('a hung file read is not repeated before it has ended', async () => {
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

it('hung file reads do not occupy all threads', async () => {
  const access = createFileAccess(20);
  await Promise.allSettled([access('/a', never), access('/b', never)]);

  await expect(access('/c', () => Promise.resolve('read'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

it('a hung file read occupies one thread, however many callers want it', async () => {
  const access = createFileAccess(20);
  let begun = 0;
  const hang = () => {
    begun += 1;
    return never();
  };

  await Promise.allSettled([access('/hung', hang), access('/hung', hang), access('/hung', hang)]);

  expect(begun).toBe(1);
});
