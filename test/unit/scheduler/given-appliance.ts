import type { World } from '../../../simulator/world.ts';
import { createApi } from '../../../simulator/api.ts';
import {
  endHang,
  hungProxyWaitMs,
  leaveProcess,
  leftProcesses,
  webServerLimitMs,
} from '../../../simulator/hung-proxy.ts';
import { recordedZevenetWorld } from '../../../simulator/scenes/recorded-later.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../../simulator/world-parts.ts';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { reasonOfStatus } from '../../../src/appliance/errors.ts';
import { fillTemplate, parseRoute } from '../../../src/appliance/route.ts';
import { polled } from '../../support/poller.ts';
import { type Answer, givenPoller } from './given-poller.ts';

const byDefault = polled.map(({ name }) => name);
const key = 'key-of-root';

/**
 * The simulated appliance with so many farms, of which the last ten are L4 farms, on the clock of
 * the test. The list of statistics takes 30 ms for each, as measured, and `listMs` more. The next
 * call for the state of a farm in `slowOnce` takes 5 s.
 */
export function givenAppliance(
  count = 60,
  collectorNames: readonly string[] = byDefault,
  world: World = recordedWorld(),
) {
  const names = Array.from({ length: count }, (_, index) => `shop-${index}`);
  const fault = { listMs: 0, slowOnce: new Set<string>() };
  world.users.get('root')!.key = key;
  world.farms.clear();
  for (const [index, name] of names.entries()) {
    const place = { name, vip: '192.0.2.1', vport: String(8_000 + index) };
    const services = [service('main', { backends: [httpBackend(0, '198.51.100.1', 80)] })];
    const listener = index % 2 === 0 ? 'https' : 'http';
    const farm = httpFarm({ ...place, listener, services });
    world.farms.set(
      name,
      index < count - 10 ? farm : l4Farm({ ...place, backends: [l4Backend(0, '198.51.100.1', 80)] }),
    );
  }
  const api = createApi(world);
  const readAtMs = new Map<string, number>();
  const requestOf = (asked: ReadKey, params: Readonly<Record<string, string>>) => {
    const { route }: EndpointRow = endpoints[asked];
    return { route, path: fillTemplate(parseRoute(route).template, params) ?? '' };
  };
  const waitMs = (asked: ReadKey, params: Readonly<Record<string, string>>) => {
    const { route, path } = requestOf(asked, params);
    return hungProxyWaitMs(world, route, path);
  };
  const callMs = (asked: ReadKey, params: Readonly<Record<string, string>>) => {
    const waitsMs = waitMs(asked, params);
    const isSlow = asked === 'readFarmStatus' && fault.slowOnce.delete(params.farmname ?? '');
    const workMs = asked === 'listFarms' ? 40 + 30 * count + fault.listMs : isSlow ? 5_000 : 0;
    return Math.min(Math.max(workMs + waitsMs, 60), webServerLimitMs);
  };
  const given = givenPoller({
    names: collectorNames,
    maxBusyRatio: 0.25,
    callMs(asked, params) {
      if (waitMs(asked, params) >= webServerLimitMs) leaveProcess(world, requestOf(asked, params).path);
      return callMs(asked, params);
    },
    answer(asked, params): Answer {
      if (callMs(asked, params) >= webServerLimitMs) return { fails: 'gateway_timeout' };
      for (const name of asked === 'listFarms' ? names : asked === 'readFarmStatus' ? [params.farmname ?? ''] : [])
        readAtMs.set(name, performance.now());
      const { path } = requestOf(asked, params);
      const request = {
        method: 'GET',
        headers: { zapi_key: key },
        path,
        shown: path,
        content: Buffer.of(),
        nowMs: Date.now(),
      };
      const reply = api.answer(request);
      if (reply.status !== 200) return { fails: reasonOfStatus(reply.status) };
      return { body: reply.kind === 'json' ? reply.value : '' };
    },
  });
  return {
    ...given,
    names,
    fault,
    /** How many processes of calls that never end are on the appliance. */
    leftProcesses: () => leftProcesses(world),
    hang(farm: string, runState: 'hung' | 'readable' = 'hung') {
      const hung = world.farms.get(farm)!;
      if (runState === 'hung') hung.runState = runState;
      else endHang(hung);
    },
    /** The largest age of the states of these farms, in seconds. */
    oldestSeconds: (farms: readonly string[]) =>
      Math.max(...farms.map((name) => performance.now() - (readAtMs.get(name) ?? 0))) / 1_000,
  };
}

/** The same as ZEVENET 5.13 with zproxy, where no call to a proxy that hangs ever ends. */
export function givenZproxyAppliance(count: number) {
  return givenAppliance(count, byDefault, recordedZevenetWorld());
}
