import { expect, it } from 'vitest';
import { FarmTimes } from '../../../src/history/farm-times.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function givenTimes() {
  const times = new FarmTimes();
  return {
    times,
    /** The farm has these states, one each minute from this one on. */
    read(fromMinute: number, ...states: readonly string[]) {
      for (const [index, state] of states.entries())
        times.add([{ name: 'shop', profile: 'http', state }], (fromMinute + index) * minuteMs, 3 * minuteMs);
    },
    /** Minutes up, down and in maintenance, by hour. */
    hours: () =>
      times
        .of('shop')
        .filter(({ spanMs }) => spanMs === hourMs)
        .map(({ fromMs, up, down, maintenance }) =>
          [fromMs / hourMs, ...[up, down, maintenance].map((ms) => ms / minuteMs)].join(' '),
        ),
  };
}

it('time counts by the reading at its beginning, and up with trouble counts as up', () => {
  const { read, hours } = givenTimes();
  read(0, 'up', 'problem', 'needed_restart', 'down', 'critical', 'maintenance', 'unknown', 'up');

  expect(hours()).toEqual(['0 3 2 1']);
});

it('time between two distant readings is unknown, and never up', () => {
  const { read, hours } = givenTimes();
  read(0, 'up', 'up');
  read(20, 'up', 'up');

  expect(hours()).toEqual(['0 2 0 0']);
});

it('time since the last reading before an outage is unknown', () => {
  const { times, read, hours } = givenTimes();
  read(0, 'up', 'up');
  times.interrupt();
  read(2, 'up', 'up');

  expect(hours()).toEqual(['0 2 0 0']);
});

it('time counts in the hour and the day in which it passes', () => {
  const { read, hours } = givenTimes();
  read(58, 'up', 'up', 'down', 'up');

  expect(hours()).toEqual(['0 2 0 0', '1 0 1 0']);
});

it('a farm with a hung proxy counts as down', () => {
  const { times, hours } = givenTimes();
  for (const minute of [0, 1])
    times.add([{ name: 'shop', profile: 'http', state: 'unknown', isSilent: true }], minute * minuteMs, 3 * minuteMs);

  expect(hours()).toEqual(['0 0 1 0']);
});

it('a clock that is set back adds no time', () => {
  const { read, hours } = givenTimes();
  read(10, 'up', 'up');
  read(5, 'up');

  expect(hours()).toEqual(['0 1 0 0']);
});

it('the times of at most 2,500 farms are buffered between two writes, whatever an appliance names', () => {
  const times = new FarmTimes();
  for (let round = 0; round < 20; round += 1) {
    const farms = Array.from({ length: 1_000 }, (_, index) => ({
      name: `${Math.floor(round / 2)}-${index}`,
      profile: 'http',
      state: 'up',
    }));
    times.add(farms, round * minuteMs, 3 * minuteMs);
  }

  expect(times.take()).toHaveLength(10_000);
  expect(times.take()).toEqual([]);
});
