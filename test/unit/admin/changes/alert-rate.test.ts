import { expect, it } from 'vitest';
import { createAlertRate } from '../../../../src/admin/changes/alert-rate.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';

/** A rate with a clock, and posts that say what came of them. */
function givenRate() {
  let nowMs = 0;
  const rate = createAlertRate(() => nowMs);
  const outcome = (work: () => void): string => {
    try {
      work();
      return 'taken';
    } catch (error) {
      return error instanceof AdminProblem ? `${error.code}, again after ${error.headers['retry-after']} s` : 'failed';
    }
  };
  return {
    pass: (ms: number) => void (nowMs += ms),
    post: (principal: string, alerts: number, bytes: number) =>
      outcome(() => {
        rate.received(principal, bytes);
        rate.taken(principal, alerts, bytes);
      }),
  };
}

it('the alerts of a token are limited by their number, and come back with the time', () => {
  const { post, pass } = givenRate();

  expect(post('am', 9_000, 1_000_000)).toBe('taken');
  expect(post('am', 2_000, 400)).toBe('too_many_alerts, again after 6 s');
  expect(post('other', 9_000, 1_000_000)).toBe('taken');
  pass(6_100);
  expect(post('am', 2_000, 400)).toBe('taken');
});

it('bodies count by their bytes, also if they hold few alerts', () => {
  const { post, pass } = givenRate();
  const posts = (): readonly string[] => Array.from({ length: 6 }, () => post('am', 1, 1_000_000));

  expect(posts().filter((outcome) => outcome === 'taken')).toHaveLength(4);
  pass(60_000);
  expect(posts().filter((outcome) => outcome === 'taken')).toHaveLength(4);
});
