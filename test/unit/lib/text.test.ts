import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneLine } from '../../../src/lib/text.ts';

describe('a text from outside on one line', () => {
  it.each([
    ['RELIANOID 7.9.0', 'RELIANOID 7.9.0'],
    ['Zürich 東京 👍', 'Zürich 東京 👍'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['\u001b[2J\u001b]0;owned\u0007', ' [2J ]0;owned '],
    ['\u009b31mred\u007f', ' 31mred '],
    ['page\u2028break\u0085', 'page break '],
    ['exe\u202egpj.\u2066', 'exe gpj. '],
    ['sh\u200bop\u{e0041}\u3164', 'sh op '],
  ])('%j becomes %j', (text, line) => {
    expect(oneLine(text, 100)).toBe(line);
  });

  it('is cut if it is too long, never within a character', () => {
    expect(oneLine('abcdef', 3)).toBe('abc');
    expect(oneLine('ab👍', 3)).toBe('ab\ufffd');
  });

  it('never controls a terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 50 }), (text, maxLength) => {
        const line = oneLine(text, maxLength);

        expect(line.length).toBeLessThanOrEqual(maxLength);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });
});
