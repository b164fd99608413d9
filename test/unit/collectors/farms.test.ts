import { describe, expect, it } from 'vitest';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { collectFrom, familiesOf, linesOf, refusal } from './given-replies.ts';

const farm = (name: string, more: object = {}) => ({
  farmname: name,
  profile: 'http',
  status: 'up',
  vip: '192.0.2.20',
  vport: '80',
  ...more,
});

/** The summary with these HTTP farms and an L4 farm. */
const summaryOf = (...names: readonly string[]) => ({
  params: { lslb: [...names.map((name) => ({ name, profile: 'http' })), { name: 'db', profile: 'l4xnat' }] },
});

describe('the farms collector', () => {
  it('writes its families in their order, even if the first farm lacks fields', async () => {
    const collected = await collectFrom(farmsCollector, {
      listFarms: { params: [{ farmname: 'bare' }, farm('shop')] },
    });

    expect(familiesOf(collected)).toEqual(farmsCollector.families.map(({ family }) => family.name));
  });

  it('writes no state without a word, and no farm for an empty list', async () => {
    const list = [farm('link', { profile: 'datalink' }), { farmname: 'bare' }];

    const collected = await collectFrom(farmsCollector, { listFarms: { params: list } });
    const empty = await collectFrom(farmsCollector, { listFarms: { params: [] } });

    expect(linesOf(collected, 'zlb_farm_status')).toContain('{appliance="lb",farm="bare",status="unknown"} 1');
    expect(linesOf(collected, 'zlb_farm_status')).toContain('{appliance="lb",farm="bare",status="up"} 0');
    expect(linesOf(collected, 'zlb_farms_with_state')).toMatch(/ 1$/);
    expect(familiesOf(empty)).toEqual(['zlb_farms_with_state', 'zlb_farms_excluded']);
    expect(empty.facts).toEqual({ farms: [] });
  });

  it.each<readonly [string, string]>([
    ...['-1', 'running', '', '  ', 'constructor', '__proto__'].map((word) => [word, 'unknown'] as const),
    ['UP', 'up'],
    [' up', 'up'],
    ['Needed Restart', 'needed_restart'],
  ])('maps the status %j to %s', async (status, state) => {
    const collected = await collectFrom(farmsCollector, { listFarms: { params: [farm('shop', { status })] } });

    expect(linesOf(collected, 'zlb_farm_status').match(/status="(\w+)"\} 1$/m)?.[1]).toBe(state);
  });

  it('writes a farm that is listed twice once, with an unknown state if the rows contradict each other', async () => {
    const twice = [farm('shop'), farm('shop'), farm('db', { status: 'up' }), farm('db', { status: 'down' })];

    const { data, duplicates } = await collectFrom(farmsCollector, { listFarms: { params: twice } });

    expect(data.farms.map(({ name, state }) => [name, state])).toEqual([
      ['shop', 'up'],
      ['db', 'unknown'],
    ]);
    expect(duplicates).toBe(0);
  });

  it.each([
    ['lacks', refusal('not_found', { routeMissing: true })],
    ['forbids', refusal('forbidden')],
  ])('reads the states from the statistics when the appliance %s the list', async (_, listFarms) => {
    const collected = await collectFrom(farmsCollector, { listFarms, listFarmStats: { farms: [farm('shop')] } });

    expect(collected.asked).toEqual(['listFarms', 'listFarmStats']);
    expect(linesOf(collected, 'zlb_farm_status')).toContain('status="up"} 1');
  });

  it('does not report an HTTPS farm as an HTTP farm when only the summary lists it', () => {
    const named = { name: 'shop', profile: 'http', state: 'unknown' };
    const settingsOf = (...list: readonly (typeof named & { readonly vip?: string })[]) =>
      farmsCollector.configuredObjects?.({ farms: list, excluded: 0 })?.map(({ settings }) => settings);

    expect(settingsOf(named, { ...named, profile: 'l4xnat' })).toEqual([{}, { profile: 'l4xnat' }]);
    expect(settingsOf({ ...named, vip: '192.0.2.20' })).toEqual([{ profile: 'http', vip: '192.0.2.20' }]);
  });

  it('falls back to the summary and one call per farm when the list fails', async () => {
    const before = await collectFrom(farmsCollector, { listFarms: { params: [farm('shop', { profile: 'https' })] } });
    const collected = await collectFrom(
      farmsCollector,
      {
        listFarms: refusal('server_error'),
        readFarmsSummary: summaryOf('shop', 'new'),
        readFarmStatus: { params: { status: 'critical' } },
        readFarm: { params: { listener: 'https', vip: '192.0.2.30', vport: '443' } },
      },
      { fresh: () => before.data as never },
    );

    expect(collected.asked).toEqual([
      'listFarms',
      'readFarmsSummary',
      'readFarmStatus',
      'readFarmStatus',
      'readFarm',
      'readFarmStatus',
    ]);
    expect(collected.states).toEqual(['farm shop critical', 'farm new critical', 'farm db critical']);
    expect(linesOf(collected, 'zlb_farm_info').split('\n')).toEqual([
      'zlb_farm_info{appliance="lb",farm="shop",profile="https",vip="192.0.2.20",vport="80"} 1',
      'zlb_farm_info{appliance="lb",farm="new",profile="https",vip="192.0.2.30",vport="443"} 1',
      'zlb_farm_info{appliance="lb",farm="db",profile="l4xnat",vip="",vport=""} 1',
    ]);
  });

  it('waits three minutes before it retries a list that fails without a hung proxy', async () => {
    const replies = {
      listFarms: refusal('timeout'),
      readFarmsSummary: summaryOf('shop'),
      readFarmStatus: { params: { status: 'up' } },
    };
    const before = await collectFrom(farmsCollector, replies);
    const fresh = (): never => before.data as never;

    const soon = await collectFrom(farmsCollector, replies, { elapsedNow: () => 170_000, fresh });
    const later = await collectFrom(farmsCollector, replies, { elapsedNow: () => 190_000, fresh });

    expect(before.states).toEqual(['farm shop up', 'farm db up']);
    expect(soon.asked).not.toContain('listFarms');
    expect(later.asked).toContain('listFarms');
  });

  it.each([
    ['a later probe that succeeded', { facts: { answersSinceElapsedMs: new Map([['shop', 70_000]]) } }, true],
    ['an earlier probe that succeeded', { facts: { answersSinceElapsedMs: new Map([['shop', 50_000]]) } }, false],
    [
      'a change through the gateway',
      { changedAtElapsedMs: (name: string) => (name === 'shop' ? 70_000 : undefined) },
      true,
    ],
    ['nothing new', {}, false],
  ])('retries a farm that was silent a minute ago after %s: %s', async (_, news, isAsked) => {
    const silent = {
      name: 'shop',
      profile: 'http',
      state: 'unknown',
      isSilent: true,
      lastAsk: { atElapsedMs: 60_000, timeouts: 4 },
    };
    const other = { name: 'db', profile: 'l4xnat', state: 'up', lastAsk: { atElapsedMs: 60_000 } };
    const before = { farms: [silent, other], excluded: 0, isOneByOne: true, memory: { hasAddresses: true } };
    const replies = { readFarmsSummary: summaryOf('shop'), readFarmStatus: { params: { status: 'up' } } };

    const collected = await collectFrom(farmsCollector, replies, {
      elapsedNow: () => 80_000,
      fresh: () => before as never,
      ...news,
    });

    expect(collected.asked.filter((key) => key === 'readFarmStatus')).toHaveLength(isAsked ? 1 : 0);
    expect(collected.states).toContain(`farm shop ${isAsked ? 'up' : 'unknown'}`);
  });

  it('loses the state of a single farm when its own call fails', async () => {
    const { states } = await collectFrom(farmsCollector, {
      listFarms: refusal('timeout'),
      readFarmsSummary: summaryOf('shop'),
      readFarmStatus: refusal('server_error'),
    });

    expect(states).toEqual(['farm shop unknown', 'farm db unknown']);
  });

  it.each(['not_found', 'bad_request'] as const)(
    'does not lose farms that are listed while the call for their states is refused with %s',
    async (reason) => {
      const { states } = await collectFrom(farmsCollector, {
        listFarms: refusal('timeout'),
        readFarmsSummary: summaryOf('shop'),
        readFarmStatus: refusal(reason, { routeMissing: true }),
      });

      expect(states).toEqual(['farm shop unknown', 'farm db unknown']);
    },
  );

  it('does not report a hung proxy when the appliance fails to respond to other calls too', async () => {
    let answers = 1;
    const collected = collectFrom(farmsCollector, {
      listFarms: refusal('timeout'),
      get readFarmsSummary() {
        answers -= 1;
        return answers < 0 ? refusal('timeout') : summaryOf('shop');
      },
      readFarmStatus: refusal('timeout'),
    });

    await expect(collected).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('retries a state after a minute, even if the system clock was set back by an hour', async () => {
    const replies = {
      listFarms: refusal('server_error'),
      readFarmsSummary: summaryOf('shop'),
      readFarmStatus: { params: { status: 'up' } },
    };
    const before = await collectFrom(farmsCollector, replies, { now: () => 7_200_000, elapsedNow: () => 0 });
    const fresh = (): never => before.data as never;

    const soon = await collectFrom(farmsCollector, replies, { now: () => 7_210_000, elapsedNow: () => 10_000, fresh });
    const later = await collectFrom(farmsCollector, replies, {
      now: () => 3_660_000,
      elapsedNow: () => 60_000,
      fresh,
    });

    expect(soon.asked).not.toContain('readFarmStatus');
    expect(later.asked).toContain('readFarmStatus');
  });

  it.each(['unlicensed', 'connect', 'tls', 'unauthorized'] as const)(
    'makes no further call after %s, and says so',
    async (reason) => {
      const failing = collectFrom(farmsCollector, { listFarms: refusal(reason), listFarmStats: { farms: [] } });

      await expect(failing).rejects.toMatchObject({ reason });
    },
  );

  it('omits excluded farms, also for other collectors, and counts them', async () => {
    const collected = await collectFrom(
      farmsCollector,
      { listFarms: { params: [farm('shop'), farm('test')] } },
      { watches: (name) => name === 'shop' },
    );

    expect(collected.text).not.toContain('test');
    expect(linesOf(collected, 'zlb_farms_excluded')).toMatch(/ 1$/);
    expect(collected.facts?.farms?.map(({ name }) => name)).toEqual(['shop']);
  });
});
