import { assert, constantFrom, property, array, string } from 'fast-check';
import { expect, it } from 'vitest';
import { createBodyScrubber } from '../../../src/appliance/api-key.ts';
import { Secret } from '../../../src/lib/secret.ts';

const scrub = (body: string, key = 'canary-key'): string => createBodyScrubber([new Secret(key)])(body);

it('removes a key from a body in every JSON spelling', () => {
  expect(scrub('{"vip":"canary-key"}')).toBe('{"vip":"[redacted]"}');
  expect(scrub('{"vip":"\\u0063anary-key"}')).toBe('{"vip":"[redacted]"}');
});

it('removes every key from any JSON, in any mixture of spellings', () => {
  const characters = [...'aZ09-_.~+/"\\=$(*'];
  const spellings = [
    (character: string) => JSON.stringify(character).slice(1, -1),
    (character: string) => `\\u${hex(character)}`,
    (character: string) => `\\u${hex(character).toUpperCase()}`,
    (character: string) => (character === '/' ? '\\/' : JSON.stringify(character).slice(1, -1)),
  ];
  const spelled = array(
    constantFrom(...characters).chain((each) => constantFrom(...spellings.map((how) => [each, how(each)]))),
    {
      minLength: 8,
      maxLength: 40,
    },
  );

  assert(
    property(spelled, string(), (pairs, before) => {
      const key = pairs.map(([character]) => character).join('');
      const text = `{"name":${JSON.stringify(before).slice(0, -1)} ${pairs.map(([, spelling]) => spelling).join('')}"}`;

      expect((JSON.parse(text) as { name: string }).name).toContain(key);
      expect((JSON.parse(scrub(text, key)) as { name: string }).name).not.toContain(key);
    }),
  );
});

it('does not change a body without the key, escapes included', () => {
  const body = '{"message":"one\\ntwo","port":80}';

  expect(scrub(body)).toBe(body);
});

it('does not change a reply for a key of a few characters', () => {
  expect(scrub('{"port":8080}', '80')).toBe('{"port":8080}');
});

it('removes a key from a text that is no JSON, and from extreme nesting', () => {
  expect(scrub('<p>canary-key</p>')).toBe('<p>[redacted]</p>');
  expect(scrub(`${'['.repeat(1_000_000)}"\\u0063anary-key"`)).toMatch(/\[\["\[redacted\]"$/);
});

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}
