import { expect, it } from 'vitest';
import { createRhythm } from '../../../src/lib/rhythm.ts';

/** At which of the seconds from 0 to 60 it is expected within 1.5 s, where it comes at the seconds named. */
function expectedAt(beats: readonly number[], forSeconds = 100): number[] {
  let nowMs = 0;
  const rhythm = createRhythm(forSeconds * 1_000, () => nowMs);
  const expected: number[] = [];
  for (let second = 0; second <= 60; second += 1) {
    nowMs = second * 1_000;
    if (beats.includes(second)) rhythm.beat();
    if (rhythm.isExpectedWithin(1_500)) expected.push(second);
  }
  return expected;
}

it('expects what comes at even intervals in the second before, and on time', () => {
  expect(expectedAt([5, 20, 35, 50])).toEqual([34, 49]);
});

it('goes on expecting what is late, until it is too late', () => {
  expect(expectedAt([5, 20], 18)).toEqual([34, 35, 36, 37]);
});

it('gives up what came evenly and is late by half, as a scraper that has gone', () => {
  expect(expectedAt([5, 15, 25])).toEqual([24, 34, 35, 36, 37, 38, 39]);
});

it('expects nothing that never came, or came once', () => {
  expect(expectedAt([])).toEqual([]);
  expect(expectedAt([5])).toEqual([]);
});

it('misses none of two who come by turns, at even intervals each', () => {
  const beats = [5, 20, 35, 50].flatMap((second) => [second, second + 4]);

  const expected = expectedAt(beats);

  for (const beat of beats.filter((second) => second > 20)) expect(expected).toContain(beat - 1);
});
