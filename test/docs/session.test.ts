import { describe, expect, it } from 'vitest';
import { exchangesIn, fits } from './session.ts';

describe('a session', () => {
  it('consists of commands with their output', () => {
    expect(exchangesIn('$ a \\\n  b\none\n\ntwo\n$ c')).toEqual([
      { at: 0, command: 'a \\\n  b', expected: 'one\n\ntwo' },
      { at: 5, command: 'c', expected: '' },
    ]);
  });

  it.each([
    ['one\ntwo', 'one\ntwo\n', true],
    ['one', 'one\ntwo\n', false],
    ['one\n…', 'one\ntwo\nthree\n', true],
    ['one\n…\nthree', 'one\nthree\n', true],
    ['up … s (x)', 'up 12 s (x)\n', true],
    ['up … s (x)', 'up 12\n s (x)\n', false],
    ['a.c', 'abc\n', false],
    ['', 'one\n', false],
  ])('%j fits %j: %s', (expected, printed, does) => {
    expect(fits(expected, printed)).toBe(does);
  });
});
