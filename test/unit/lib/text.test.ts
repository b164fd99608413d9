import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { adminCommand, closestWord, globMatcher, isOneLine, oneLine, unseen } from '../../../src/lib/text.ts';

it.each([
  ['RELIANOID 7.9.0', 'RELIANOID 7.9.0'],
  ['Zürich 東京 👍', 'Zürich 東京 👍'],
  ['one\r\ntwo\tthree', 'one two three'],
  ['\u001b[2J\u001b]0;owned\u0007', ' [2J ]0;owned '],
  ['\u009b31mred\u007f', ' 31mred '],
  ['page\u2028break\u0085', 'page break '],
  ['exe\u202egpj.\u2066', 'exe gpj. '],
  ['sh\u200bop\u{e0041}\u3164', 'sh op '],
])('the text %j from outside becomes %j', (text, line) => {
  expect(oneLine(text, 100)).toBe(line);
  expect(isOneLine(text, 100)).toBe(text === line);
});

it('a text from outside is truncated if it is too long, never within a character', () => {
  expect(oneLine('abcdef', 3)).toBe('abc');
  expect(oneLine('ab👍', 3)).toBe('ab\ufffd');
});

it('a text from outside is cleaned by the same pattern in the console, which cannot import it', () => {
  expect(readFileSync('src/pages/console/make.js', 'utf8')).toContain(`/(?!\\n)${unseen}/gu`);
});

it('a text from outside never controls a terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 50 }), (text, maxLength) => {
      const line = oneLine(text, maxLength);

      expect(line.length).toBeLessThanOrEqual(maxLength);
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }),
  );
});

it.each([
  [['lb-1', 'restart-farm', 'farm=shop'], 'lb-1 restart-farm farm=shop'],
  [['lb-1', 'restart-farm', 'farm=a; reboot'], "lb-1 restart-farm farm='a; reboot'"],
  [['lb-1', 'restart-farm', "farm=$(id)'`"], "lb-1 restart-farm farm='$(id)'\\''`'"],
  [['lb-1', 'restart-farm', 'farm=a\nreboot', '--confirm=*'], "lb-1 restart-farm farm='a\nreboot' --confirm='*'"],
])('a command to copy quotes what a shell would interpret: %j', (words, command) => {
  expect(adminCommand(...words)).toBe(`zlb-exporter admin ${command}`);
});

it('a command to copy is parsed by a shell word for word', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-ascii' }), { maxLength: 5 }), (words) => {
      const text = adminCommand(...words).replace('zlb-exporter admin', 'printf "%s\\n" admin');

      const read = execFileSync('sh', ['-c', text]).toString();

      expect(read).toBe(['admin', ...words, ''].join('\n'));
    }),
    { numRuns: 50 },
  );
});

const known = 'api_key api_key_file appliances appliance_files fingerprint_sha256 max_stale restart-farm timeout url';

it.each([
  ['timout', 'timeout'],
  ['timeouts', 'timeout'],
  ['maxStale', 'max_stale'],
  ['max-stale', 'max_stale'],
  ['URL', 'url'],
  ['api_key_fil', 'api_key_file'],
  // Two letters changed places.
  ['applaince', 'appliances'],
  // The end is missing.
  ['fingerprint', 'fingerprint_sha256'],
  ['Fingerprint', 'fingerprint_sha256'],
  ['restart', 'restart-farm'],
])('the closest word to %s is %s', (word, meant) => {
  expect(closestWord(word, known.split(' '))).toBe(meant);
});

it.each([
  ['a beginning', 'applian'],
  ['a short word', 'fin'],
  ['another word', 'interval'],
  ['two letters', 'ip'],
  ['nothing', ''],
  ['a million letters', 'x'.repeat(1_000_000)],
])('the closest word is not guessed for %s', (_, word) => {
  expect(closestWord(word, known.split(' '))).toBeUndefined();
});

it.each([
  ['lb-*', 'lb-paris', true],
  ['lb-*', 'lb-', true],
  ['lb-*', 'my-lb-paris', false],
  ['*-paris', 'lb-paris', true],
  ['lb', 'lb', true],
  ['lb', 'lbs', false],
  ['a*a', 'a', false],
  ['a*b*c', 'a-c-b', false],
  ['*', '', true],
  ['l.', 'lb', false],
  ['a*c', 'a\nc', true],
])('the pattern %j on %j: %s', (glob, text, fits) => {
  expect(globMatcher(glob)(text)).toBe(fits);
});

it('a pattern with stars matches the same texts as the equivalent regular expression', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });

  fc.assert(
    fc.property(word, text, (glob, name) => {
      expect(globMatcher(glob)(name)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
    }),
    { numRuns: 2_000 },
  );
});

it('a pattern with stars terminates for any number of stars and any length of text', () => {
  expect(globMatcher('*a'.repeat(20_000))(`${'a'.repeat(19_999)}b`)).toBe(false);
});
