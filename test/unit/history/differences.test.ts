import { expect, it } from 'vitest';
import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import { compareConfigured } from '../../../src/history/differences.ts';

const backend = (name: string, settings: Readonly<Record<string, string>> = { weight: '1' }): ConfiguredObject => ({
  object: 'backend',
  farm: 'shop',
  service: 'web',
  name,
  id: '0',
  settings,
});

it('two backends that were replaced by two others alike are gone and new: nobody knows which is which', () => {
  const differences = compareConfigured([backend('a'), backend('b')], [backend('c'), backend('d')]);

  expect(differences.map(({ setting }) => setting)).toEqual(['', '', '', '']);
});

it('a backend that was replaced by two others alike is gone, and both are new', () => {
  expect(compareConfigured([backend('a')], [backend('b'), backend('c')]).map(({ setting }) => setting)).toEqual([
    '',
    '',
    '',
  ]);
});

it('a backend whose last setting alone differs from that of a new one was not renamed', () => {
  const long = { a: 'x'.repeat(300), weight: '1' };

  expect(compareConfigured([backend('a', long)], [backend('b', { ...long, weight: '2' })])).toHaveLength(2);
});

it('a thousand backends that are replaced are compared within the time of one poll', () => {
  const named = (prefix: string) => Array.from({ length: 1_000 }, (_, index) => backend(`${prefix}${index}`));
  const startedAtMs = performance.now();
  const differences = compareConfigured(named('old'), named('new'));

  expect(differences).toHaveLength(2_000);
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});

it('a health check that no farm of the reading uses any more is not gone', () => {
  const check: ConfiguredObject = { object: 'check', farm: '', service: '', name: 'http', settings: { interval: '5' } };

  expect(compareConfigured([check], [])).toEqual([]);
  expect(compareConfigured([check], [{ ...check, settings: { interval: '9' } }])).toMatchObject([
    { setting: 'interval', before: '5', after: '9' },
  ]);
});
