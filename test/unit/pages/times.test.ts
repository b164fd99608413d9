import { expect, it } from 'vitest';

/** A script of the page. */
interface Times {
  clock(date: Date, now: Date): string;
  clockOffset(date: string, beforeMs: number): number;
}

const script = new URL('../../../src/pages/assets/times.js', import.meta.url);
const { clock, clockOffset } = (await import(script.href)) as Times;

it('a time on a page shows its year if it is another one, and no day if it is today', () => {
  const at = (date: string): string => clock(new Date(date), new Date('2026-11-25T18:00:00'));

  expect(at('2027-11-25T00:00:00')).toMatch(/25.*2027|2027.*25/);
  expect(at('2026-10-21T16:53:00')).toMatch(/^(?!.*2026).*21.* 16:53$/);
  expect(at('2026-11-25T17:28:03')).toBe('17:28:03');
});

it("a page uses the exporter's clock when it differs by more than the Date header can express", () => {
  const offset = (differenceMs: number): number => clockOffset(new Date(Date.now() + differenceMs).toISOString(), 0);

  expect(offset(1_000)).toBe(0);
  expect(Math.round(offset(10_000) / 1_000)).toBe(10);
});
