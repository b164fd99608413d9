import { expect, it } from 'vitest';
import { canary, canaryPem, createCanarySearch } from '../../../bench/soak/canaries.ts';

const secret = canary('key-of-lb-1');

it.each([
  ['as it is', `message: ${secret}.`],
  ['percent-encoded', `/?key=${encodeURIComponent(secret)}`],
  ['in the escapes of JSON', `{"key":"${secret.replace('^', '\\u005e')}"}`],
  ['in base64', `Basic ${Buffer.from(`a:${secret}`).toString('base64')}`],
  ['in base64, one byte further', `Basic ${Buffer.from(`ab:${secret}`).toString('base64')}`],
  ['in base64, two bytes further', `Basic ${Buffer.from(`abc:${secret}`).toString('base64')}`],
  ['in lower case', secret.toLowerCase()],
  ['as a private key', canaryPem('key').split('\n')[1] ?? ''],
])('finds a planted secret %s', (_, text) => {
  expect(createCanarySearch().findIn(text)).toContain(text.slice(0, 20).replaceAll('"', String.raw`\"`).slice(0, 10));
});

it('finds secrets that are none of its own, and nothing where there is nothing', () => {
  const search = createCanarySearch(['MC4CAQAwBQYDK2VwBCIEIA+/=']);

  expect(search.findIn('key MC4CAQAwBQYDK2VwBCIEIA+/= end')).toBeDefined();
  expect(search.findIn('Canary, planted; [redacted]')).toBeUndefined();
});
