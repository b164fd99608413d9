import { describe, expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { polled } from '../../support/poller.ts';
import { L4Farms } from '../../../src/scheduler/l4-farms.ts';
import { answering, givenPoller, upFarms } from './given-poller.ts';

const minuteMs = 60_000;
const names = polled.map(({ name }) => name);
const l4Reads: readonly ReadKey[] = ['readFarmStats', 'readFarm'];
/** In trouble, so that it is read each minute. */
const listed = (profile?: string) => ({ farmname: 'db', profile, status: 'problem' });

/** An appliance with one farm, `db`, of a profile that a test changes; the list may be older. */
function given() {
  const state = { listed: 'l4xnat' as string | undefined, now: 'l4xnat' as string | undefined };
  const { poller, asked } = givenPoller({
    names,
    answer: (key) => {
      if (key === 'listFarms') return { body: { params: [listed(state.listed)] } };
      if (key === 'readFarmsSummary') return { body: { params: { lslb: [{ name: 'db', profile: state.now }] } } };
      if (key === 'readFarm') return { body: { params: { listener: 'l4xnat', protocol: 'tcp' }, backends: [] } };
      return answering()(key);
    },
  });
  poller.start();
  return { state, acting: () => asked.filter(({ key }) => l4Reads.includes(key)).map(({ key }) => key) };
}

describe('a read that acts on L4 farms', () => {
  it.each([
    ['an L4 farm', 'l4xnat', 'l4xnat'],
    ['a farm that is an L4 farm since the last list', 'http', 'l4xnat'],
    ['a farm whose profile nobody says', undefined, undefined],
    ['a farm of a profile that is not known', 'l4dsr', 'l4dsr'],
  ])('is not sent for %s in ten minutes', async (_, inList, now) => {
    const { state, acting } = given();
    Object.assign(state, { listed: inList, now });

    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    expect(acting()).toEqual([]);
  });

  it('is sent for a farm of another profile, and no longer once it was recreated as an L4 farm', async () => {
    const { state, acting } = given();
    Object.assign(state, { listed: 'https', now: 'http' });
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    expect(new Set(acting())).toEqual(new Set(l4Reads));

    // Deleted and created between the list and the reads, which it does not reach for longer.
    state.now = 'l4xnat';
    await vi.advanceTimersByTimeAsync(10_000);
    const before = acting().length;
    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    expect(acting()).toHaveLength(before);
  });
});

it('an outdated farm list does not permit an acting read, because the name may belong to another farm now', async () => {
  let elapsedMs = 0;
  const list = { askedAtElapsedMs: 0, data: { farms: [{ name: 'db', profile: 'http', state: 'up' }], excluded: 0 } };
  const farms = new L4Farms({ elapsedNow: () => elapsedMs, listed: () => [list] });
  const read = async () => ({ params: { lslb: [{ name: 'db', profile: 'l4xnat' }] } }) as never;
  const fact = { name: 'db', profile: 'http', state: 'up' };
  expect(await farms.safeFarmName(read, fact)).toBe('db');

  elapsedMs = 1_000;
  farms.forgetProfiles();

  expect(await farms.safeFarmName(read, fact)).toBeUndefined();
});

it('a recreated farm gets no acting read for more than a minute when nothing else reads lists in time', async () => {
  const state = { profile: 'http', isListed: true };
  const { poller, asked } = givenPoller({
    names: ['farms', 'backends'],
    answer: (key) => {
      if ((key === 'listFarms' || key === 'listFarmStats') && !state.isListed) return { fails: 'forbidden' };
      if (key === 'listFarms') return { body: { params: [listed(state.profile)] } };
      if (key === 'readFarmsSummary') return { body: { params: { lslb: [{ name: 'db', profile: state.profile }] } } };
      return answering()(key);
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  const acting = () => asked.filter(({ key }) => key === 'readFarmStats').map(({ at }) => at);
  expect(acting().length).toBeGreaterThan(3);

  Object.assign(state, { profile: 'l4xnat', isListed: false });
  await vi.advanceTimersByTimeAsync(2 * minuteMs);

  expect(acting().filter((at) => at > 6 * minuteMs)).toEqual([]);
  expect(asked.filter(({ key }) => key === 'listFarmBackends').length).toBeGreaterThan(0);
});

it('hundreds of farms are read by the lists that are read anyway, without a call for the summary', async () => {
  const { poller, asked } = givenPoller({
    names: ['farms', 'backends'],
    answer: (key) => (key === 'listFarms' ? { body: { params: upFarms(200) } } : answering()(key)),
  });
  poller.start();

  await vi.advanceTimersByTimeAsync(10 * minuteMs);

  expect(asked.filter(({ key }) => key === 'readFarmStats').length).toBeGreaterThan(400);
  expect(asked.filter(({ key }) => key === 'readFarmsSummary')).toEqual([]);
});
