import { describe, expect, it } from 'vitest';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { FailureLog } from '../../../src/scheduler/failure-log.ts';
import type { Transition } from '../../../src/state/status.ts';
import { givenLog } from './given-log.ts';

const farms = { collector: 'farms' };

function given() {
  const { log, lines } = givenLog();
  return { failures: new FailureLog(log, () => 0), lines, messages: () => lines.map(({ msg }) => msg) };
}

describe('the failure log', () => {
  it('logs a failure once, again when its reason changes, and its recovery once', () => {
    const { failures, lines } = given();

    failures.failed(farms, 'timeout', new Error('too slow'));
    failures.failed(farms, 'timeout', new Error('too slow'));
    failures.failed(farms, 'connect', new Error('refused'));
    failures.recovered(farms);
    failures.recovered(farms);

    expect(lines).toEqual([
      { level: 40, collector: 'farms', reason: 'timeout', because: 'too slow', msg: 'poll failed' },
      { level: 40, collector: 'farms', reason: 'connect', because: 'refused', msg: 'poll failed' },
      { level: 30, collector: 'farms', msg: 'poll succeeds again' },
    ]);
  });

  it('logs one line for farms with the same failure, and the recovery when the last one has recovered', () => {
    const { failures, messages } = given();
    const shop = { collector: 'backends', farm: 'shop' };
    const db = { collector: 'backends', farm: 'db' };

    failures.failed(shop, 'timeout', new Error(''));
    failures.failed(db, 'timeout', new Error(''));
    failures.recovered({ collector: 'backends' });
    failures.recovered(shop);
    expect(messages()).toEqual(['poll failed']);

    failures.recovered(db);
    expect(messages()).toEqual(['poll failed', 'poll succeeds again']);
  });

  it('logs once, with a remedy, that series are dropped', () => {
    const { failures, lines } = given();

    failures.dropped('limit', 900);
    failures.dropped('limit', 900);

    expect(lines).toEqual([expect.objectContaining({ reason: 'limit', series: 900 })]);
  });

  it('does not log the recovery of a deleted farm, and logs its next failure again', () => {
    const { failures, messages } = given();
    const shop = { collector: 'backends', farm: 'shop' };
    failures.failed(shop, 'timeout', new Error(''));

    failures.onRemoved(shop, 'gone');
    failures.failed(shop, 'timeout', new Error(''));

    expect(messages()).toEqual(['poll failed', 'poll failed']);
  });

  it('logs an unknown word once, shortened', () => {
    const { failures, lines } = given();

    failures.unknownWord('zlb_farm_status', 'x'.repeat(1_000_000));
    failures.unknownWord('zlb_farm_status', 'x'.repeat(1_000_000));

    expect(lines).toMatchObject([{ level: 40, family: 'zlb_farm_status', word: 'x'.repeat(64) }]);
  });

  it('stops logging if an appliance sends a new word at every poll', () => {
    const { failures, lines } = given();

    for (let poll = 0; poll < 10_000; poll += 1) failures.unknownWord('zlb_farm_status', `word ${poll}`);

    expect(lines).toHaveLength(100);
  });

  it('logs an unreadable field once for all farms, and shows it until the newest replies are complete', () => {
    const { failures, messages } = given();
    const odd = { endpoint: '/stats/farms/{farmname}', field: 'established', count: 2, example: '"1,234"' };

    for (const farm of ['shop', 'db']) failures.unreadable({ collector: 'backends', farm }, [odd]);
    const both = failures.unreadableOf('backends');
    failures.unreadable({ collector: 'backends', farm: 'shop' }, []);
    const one = failures.unreadableOf('backends');
    failures.onRemoved({ collector: 'backends', farm: 'db' }, 'gone');

    expect(messages()).toEqual(['values in a reply cannot be read, left out']);
    expect([both, one, failures.unreadableOf('backends')]).toEqual([[{ ...odd, count: 4 }], [odd], []]);
    expect(failures.unreadableOf('farms')).toEqual([]);
  });

  it('logs a change of state with the old and the new one, and up to a thousand a minute', () => {
    const { failures, lines } = given();
    const change = (name: string): Transition => ({
      appliance: 'lb',
      atMs: 0,
      object: 'farm',
      labels: { farm: name },
      from: 'up',
      to: 'down',
    });
    const put = (count: number) =>
      failures.onReading(
        { collector: farmsCollector, data: undefined, takenAtElapsedMs: 0, maxStaleMs: 0, lifeMs: 0, isWhole: true },
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
