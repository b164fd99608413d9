import { expect, it, vi } from 'vitest';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { collectors } from '../../../src/collectors/registry.ts';
import { type Answer, answering, givenPoller } from './given-poller.ts';

const minuteMs = 60_000;
const every = collectors.map(({ name }) => name);
/** Routes that an edition or a release may lack. */
const absent: readonly ReadKey[] = [
  'listFarmguardians',
  'listVirtualInterfaces',
  'listAcmeCertificates',
  'listLegacyAcmeCertificates',
  'readActivationInfo',
  'readActivationCertificate',
  'listVpns',
  'readConnectionStats',
  'readLocalClusterNode',
  'listIpds',
  'listBackups',
  'listPackages',
];

/** An appliance of unknown edition with an upgrade and an outage that a test brings. */
function given() {
  const state = { version: '7.9.0', isAway: false, answered404: [] as ReadKey[] };
  const { poller, ...rest } = givenPoller({
    names: every,
    answer(key): Answer {
      if (state.isAway) return { fails: 'connect' };
      if (key === 'readSystemInfo') return { body: { params: { relianoid_version: state.version } } };
      const answer = absent.includes(key) ? { fails: 'not_found' as const } : answering()(key);
      if ('fails' in answer) state.answered404.push(key);
      return answer;
    },
  });
  poller.start();
  /** How often each of these routes was asked for and missing in these minutes. */
  async function in404(minutes: number) {
    state.answered404 = [];
    await vi.advanceTimersByTimeAsync(minutes * minuteMs);
    return Map.groupBy(
      state.answered404.filter((key) => absent.includes(key)),
      (key) => key,
    );
  }
  return { state, in404, ...rest };
}

it('a missing route is requested once an hour', async () => {
  const { in404 } = given();

  const first = await in404(55);
  expect([...first].filter(([, times]) => times.length > 1)).toEqual([]);
  expect(first.size).toBeGreaterThan(8);

  const next = await in404(60);
  expect([...next].filter(([, times]) => times.length > 1)).toEqual([]);
  expect(next.size).toBe(first.size);
});

it.each([
  ['its version changed', (state: { version: string }) => void (state.version = '8.0.0')],
  [
    'it was away',
    async (state: { isAway: boolean }) => {
      state.isAway = true;
      await vi.advanceTimersByTimeAsync(3 * minuteMs);
      state.isAway = false;
    },
  ],
])('a missing route is requested again after %s', async (_, happens) => {
  const { state, in404 } = given();
  const first = await in404(25);

  await happens(state);
  const again = await in404(25);

  expect([...again.keys()].toSorted()).toEqual([...first.keys()].toSorted());
});
