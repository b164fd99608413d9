import { describe, expect, it } from 'vitest';
import { CollectorFailures } from '../../../src/scheduler/collector-failures.ts';
import { givenLog } from './given-log.ts';

const farms = { collector: 'farms' };

function given() {
  const { log, lines } = givenLog();
  return { failures: new CollectorFailures(log, () => 0), lines, messages: () => lines.map(({ msg }) => msg) };
}

describe('the failures of collectors', () => {
  it('logs a failure once, again when its reason changes, and its recovery once', () => {
    const { failures, lines } = given();

    failures.recordFailure(farms, 'timeout', new Error('too slow'));
    failures.recordFailure(farms, 'timeout', new Error('too slow'));
    failures.recordFailure(farms, 'connect', new Error('refused'));
    failures.recordRecovery(farms);
    failures.recordRecovery(farms);

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

    failures.recordFailure(shop, 'timeout', new Error(''));
    failures.recordFailure(db, 'timeout', new Error(''));
    failures.recordRecovery({ collector: 'backends' });
    failures.recordRecovery(shop);
    expect(messages()).toEqual(['poll failed']);

    failures.recordRecovery(db);
    expect(messages()).toEqual(['poll failed', 'poll succeeds again']);
  });

  it('does not log the recovery of a deleted farm, and logs its next failure again', () => {
    const { failures, messages } = given();
    const shop = { collector: 'backends', farm: 'shop' };
    failures.recordFailure(shop, 'timeout', new Error(''));

    failures.onRemoved(shop, 'gone');
    failures.recordFailure(shop, 'timeout', new Error(''));

    expect(messages()).toEqual(['poll failed', 'poll failed']);
  });

  it('logs an unreadable field once for all farms, and shows it until the newest replies are complete', () => {
    const { failures, messages } = given();
    const odd = { endpoint: '/stats/farms/{farmname}', field: 'established', count: 2, example: '"1,234"' };

    for (const farm of ['shop', 'db']) failures.recordUnreadable({ collector: 'backends', farm }, [odd]);
    const both = failures.unreadableOf('backends');
    failures.recordUnreadable({ collector: 'backends', farm: 'shop' }, []);
    const one = failures.unreadableOf('backends');
    failures.onRemoved({ collector: 'backends', farm: 'db' }, 'gone');

    expect(messages()).toEqual(['values in a reply cannot be read, left out']);
    expect([both, one, failures.unreadableOf('backends')]).toEqual([[{ ...odd, count: 4 }], [odd], []]);
    expect(failures.unreadableOf('farms')).toEqual([]);
  });
});
