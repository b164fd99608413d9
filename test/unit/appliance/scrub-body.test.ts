import { expect, it } from 'vitest';
import { scrubBody } from '../../../src/appliance/scrub-body.ts';
import { Secret } from '../../../src/lib/secret.ts';

it('takes a key out of a body, however JSON spells it', () => {
  const key = new Secret('canary-key');

  expect(scrubBody('{"vip":"canary-key"}', key)).toBe('{"vip":"[redacted]"}');
  expect(scrubBody('{"vip":"\\u0063anary-key"}', key)).toBe('{"vip":"[redacted]"}');
});

it('leaves a body alone that does not hold the key, escapes and all', () => {
  const body = '{"message":"one\\ntwo","port":80}';

  expect(scrubBody(body, new Secret('canary-key'))).toBe(body);
});

it('does not change what a reply says for a key of a few characters', () => {
  expect(scrubBody('{"port":8080}', new Secret('80'))).toBe('{"port":8080}');
});
