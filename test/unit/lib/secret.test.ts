import { format, inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';

const canary = 'Canary0Key';

it.each<[what: string, print: (secret: Secret) => string]>([
  ['String()', String],
  ['a template', (secret) => `${secret}`],
  ['joining an array', (secret) => [secret].join()],
  ['JSON', (secret) => JSON.stringify({ secret })],
  ['util.inspect', (secret) => inspect({ secret }, { showHidden: true, depth: null })],
  [
    'util.inspect of a class that is not asked',
    (secret) => inspect(secret, { customInspect: false, showHidden: true }),
  ],
  ['util.format', (secret) => format('%s %o %j %O', secret, secret, secret, secret)],
  ['the message of an error', (secret) => inspect(new Error(`refused: ${secret}`))],
  ['an error that carries it', (secret) => inspect(new Error('refused', { cause: { secret } }), { depth: null })],
])('a secret does not appear in %s', (_, print) => {
  expect(print(new Secret(canary))).not.toContain(canary);
});

it('a secret prints as [redacted], so that a log shows that there was one', () => {
  const secret = new Secret(canary);

  expect([`${secret}`, inspect(secret), JSON.stringify(secret)]).toEqual(['[redacted]', '[redacted]', '"[redacted]"']);
});

it('a secret has no properties that a copy would contain', () => {
  const secret = new Secret(canary);

  expect(Reflect.ownKeys(secret)).toEqual([]);
  expect(inspect({ ...secret })).toBe('{}');
});

it('a secret is returned by reveal()', () => {
  expect(new Secret(canary).reveal()).toBe(canary);
});

it('a secret equals only its value, for any lengths', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (value, other) => {
      expect(new Secret(value).equals(other)).toBe(value === other);
      expect(new Secret(value).equals(value)).toBe(true);
    }),
  );
});

it('redaction removes every occurrence of the secret from a text', () => {
  const scrubbed = new Secret(canary).scrub(`key ${canary} is wrong (${canary})`);

  expect(scrubbed).toBe('key [redacted] is wrong ([redacted])');
});

it('redaction leaves no occurrence in any context, even of a secret that looks like a pattern', () => {
  const secrets = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('.*', '$&', '[a', '\\')).filter(isNotOurWord);

  fc.assert(
    fc.property(secrets, fc.array(fc.string()), (value, around) => {
      const scrubbed = new Secret(value).scrub(around.join(value));

      expect(scrubbed.replaceAll('[redacted]', '\n\n')).not.toContain(value);
    }),
  );
});

it('redaction leaves a text unchanged without a secret to search for', () => {
  expect(new Secret('').scrub('as it was')).toBe('as it was');
});

/**
 * A secret that is part of the word we write in its place, or of what the test puts there, shows
 * nothing.
 */
function isNotOurWord(value: string): boolean {
  return !'[redacted]'.includes(value) && !value.includes('\n') && !value.includes('[') && !value.includes(']');
}
