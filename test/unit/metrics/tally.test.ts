import { describe, expect, it } from 'vitest';
import { counter, histogram } from '../../../src/metrics/family.ts';
import { type Emit, renderSamples } from '../../../src/metrics/samples.ts';
import { createDurationTally, createTally } from '../../../src/metrics/tally.ts';

const calls = counter('calls_total', 'Calls (a test).', ['method', 'code']);
const seconds = histogram('call_seconds', 'Length of calls (a test).', ['method']);

describe('a tally', () => {
  it('starts at 0 for what is known in advance, so that the first increase can be seen', () => {
    const tally = createTally(calls, () => [
      { method: 'GET', code: '200' },
      { method: 'GET', code: '500' },
    ]);

    tally.add({ method: 'GET', code: '500' });

    expect(textOf(tally)).toBe(
      'calls_total{appliance="lb",method="GET",code="200"} 0\ncalls_total{appliance="lb",method="GET",code="500"} 1\n',
    );
  });

  it('adds up per label values, whatever their order in the object', () => {
    const tally = createTally(calls);

    tally.add({ method: 'GET', code: '200' });
    tally.add({ code: '200', method: 'GET' }, 2.5);

    expect(textOf(tally)).toBe('calls_total{appliance="lb",method="GET",code="200"} 3.5\n');
  });

  it('writes nothing while it counted nothing', () => {
    expect(textOf(createTally(calls))).toBe('');
  });

  it('goes on counting after it was exposed', () => {
    const tally = createTally(calls);
    tally.add({ method: 'GET', code: '200' });
    textOf(tally);

    tally.add({ method: 'GET', code: '200' });

    expect(textOf(tally)).toContain('} 2\n');
  });
});

describe('the version of what is counted', () => {
  it('is another one whenever something was counted, and the same when it was only looked at', () => {
    const tally = createTally(calls, () => [{ method: 'GET', code: '200' }]);
    const durations = createDurationTally(seconds, { method: 'GET' }, [1]);
    const versions = () => [tally.version(), durations.version()];
    const before = versions();
    textOf(tally);
    textOf(durations);
    const looked = versions();

    tally.add({ method: 'GET', code: '200' });
    durations.observe(1);

    expect(looked).toEqual(before);
    expect(tally.version()).not.toBe(before[0]);
    expect(durations.version()).not.toBe(before[1]);
  });
});

describe('a tally of durations', () => {
  it('counts an observation in every bucket that is long enough, the bound included', () => {
    const tally = createDurationTally(seconds, { method: 'GET' }, [0.1, 1]);

    for (const each of [0.05, 0.1, 0.5, 30]) tally.observe(each);

    expect(textOf(tally)).toBe(
      'call_seconds_bucket{appliance="lb",method="GET",le="0.1"} 2\n' +
        'call_seconds_bucket{appliance="lb",method="GET",le="1"} 3\n' +
        'call_seconds_bucket{appliance="lb",method="GET",le="+Inf"} 4\n' +
        'call_seconds_sum{appliance="lb",method="GET"} 30.65\n' +
        'call_seconds_count{appliance="lb",method="GET"} 4\n',
    );
  });
});

function textOf(tally: { expose(emit: Emit): void }): string {
  return renderSamples('lb', (emit) => tally.expose(emit))
    .families.map(({ text }) => text)
    .join('');
}
