import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { adminCommand, isOneLine, oneLine, unseen } from '../../../src/lib/text.ts';

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
