import { describe, expect, it } from 'vitest';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { ReadingLog } from '../../../src/scheduler/reading-log.ts';
import type { Transition } from '../../../src/state/status.ts';
import { givenLog } from './given-log.ts';

function given() {
  const { log, lines } = givenLog();
  return { readingLog: new ReadingLog(log), lines };
}

describe('the log of readings', () => {
  it('logs once, with a remedy, that series are dropped', () => {
    const { readingLog, lines } = given();

    readingLog.logDropped('limit', 900);
    readingLog.logDropped('limit', 900);

    expect(lines).toEqual([expect.objectContaining({ reason: 'limit', series: 900 })]);
  });

  it('logs an unknown word once, shortened', () => {
    const { readingLog, lines } = given();

    readingLog.logUnknownState('zlb_farm_status', 'x'.repeat(1_000_000));
    readingLog.logUnknownState('zlb_farm_status', 'x'.repeat(1_000_000));

    expect(lines).toMatchObject([{ level: 40, family: 'zlb_farm_status', word: 'x'.repeat(64) }]);
  });

  it('stops logging if an appliance sends a new word at every poll', () => {
    const { readingLog, lines } = given();

    for (let poll = 0; poll < 10_000; poll += 1) readingLog.logUnknownState('zlb_farm_status', `word ${poll}`);

    expect(lines).toHaveLength(100);
  });

  it('logs a change of state with the old and the new one, and up to a thousand a minute', () => {
    const { readingLog, lines } = given();
    const change = (name: string): Transition => ({
      appliance: 'lb',
      atMs: 0,
      object: 'farm',
      labels: { farm: name },
      from: 'up',
      to: 'down',
    });
    const put = (count: number) =>
      readingLog.onReading(
        { collector: farmsCollector, data: undefined, askedAtElapsedMs: 0, maxStaleMs: 0, lifeMs: 0, isWhole: true },
        Array.from({ length: count }, (_, index) => change(`f${index}`)),
      );

    put(1);
    expect(lines.splice(0)).toEqual([
      { level: 30, object: 'farm', farm: 'f0', from: 'up', to: 'down', msg: 'state changed' },
    ]);
    for (let reading = 0; reading < 10; reading += 1) put(900);

    const msg = 'more states changed than are logged one by one';
    const states = lines.filter((line) => line.msg === 'state changed');
    expect(states.length).toBeGreaterThanOrEqual(999);
    expect(states.length).toBeLessThan(1_100);
    const counted = lines.filter((line) => line.msg === msg);
    expect(counted).toHaveLength(9);
    expect(counted.at(-1)).toMatchObject({ level: 30, collector: 'farms', changes: 900, logged: expect.any(Number) });
  });
});
