import { expect, it, vi } from 'vitest';
import { farmConfigCollector } from '../../../src/collectors/farm-config.ts';
import { answering, givenPoller, upFarms } from './given-poller.ts';

const minuteMs = 60_000;
const count = 10;

/** A poller that has read ten farms, and is in the middle of the next run over them. */
async function givenSpreadRun() {
  const given = givenPoller({
    names: ['farms', 'farm_config'],
    answer: answering({
      listFarms: { body: { params: upFarms(count) } },
      listFarmguardians: { body: { params: [{ name: 'http', interval: 5, farms: [] }] } },
      readFarm: { body: { params: {}, services: [] } },
    }),
  });
  const { poller, asked } = given;
  const lists = (): readonly number[] => asked.filter(({ key }) => key === 'listFarmguardians').map(({ at }) => at);
  const farmsSince = (at: number) => asked.filter((each) => each.key === 'readFarm' && each.at >= at);
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  const before = lists().length;
  for (let seconds = 0; seconds < 1_800; seconds += 1) {
    if (lists().length > before && farmsSince(lists().at(-1) ?? 0).length >= count / 2) break;
    await vi.advanceTimersByTimeAsync(1_000);
  }
  return { ...given, lists, farmsSince };
}

it('a reading of a farm is as old as the health check list with which its run started', async () => {
  const { poller, lists } = await givenSpreadRun();
  const ages = Array.from({ length: count }, (_, index) => {
    const reading = poller.state.reading(farmConfigCollector, `f${index}`);
    return poller.state.elapsedNow() - (reading?.askedAtElapsedMs ?? Number.NaN);
  });

  const newest = ages.filter((age) => age < 10 * minuteMs);
  expect(lists().length).toBeGreaterThan(1);
  expect(new Set(newest.map((age) => Math.round(age / 1_000))).size).toBe(1);
  expect(newest.length).toBeGreaterThanOrEqual(count / 2);
});

it('a change of a health check triggers a read of all farms with a new list, even in the middle of a run', async () => {
  const { poller, asked, lists, farmsSince } = await givenSpreadRun();
  const before = lists().length;
  const startedAt = asked.at(-1)!.at;

  const read = poller.refresh('farmguardian', undefined);
  await vi.advanceTimersByTimeAsync(5_000);
  await read;

  expect(lists().length).toBe(before + 1);
  expect(new Set(farmsSince(startedAt + 1).map(({ params }) => params.farmname)).size).toBe(count);
});
