import { type Farm, inListOrder } from './world-farms.ts';
import type { World } from './world.ts';

/**
 * The fault "hung proxy": how long each call takes while proxies of HTTP farms do not answer the
 * appliance (`runState: 'hung'`), measured with proxies stopped by SIGSTOP.
 */
interface Time {
  readonly route: RegExp;
  readonly waitMs: (hung: readonly Farm[], asked: Farm | undefined) => number;
}

/** The web server of the appliance ends a request then, with 504: its limit is 60 s. */
export const webServerLimitMs = 66_000;

const list = /^GET \/(?:stats\/farms|farms|farms\/modules\/lslb)$/;
const summary = /^GET \/farms\/modules\/summary$/;
const configuration = /^GET \/farms\/\{farmname\}$/;
const partOfFarm = /^GET \/(?:stats\/)?farms\/\{farmname\}\/?(?:status|summary|backends|services.*)?$/;
const action = /^PUT \/farms\/\{farmname\}\/actions$/;

const timesOf: Readonly<Record<World['proxy'], readonly Time[]>> = {
  // RELIANOID CE 7.9.0 and SKUDONET CE 7.1.0, which wait 20 s for each control socket.
  pound: [
    // 20.2 to 22.7 s with one, 40.5 s with two: one proxy after the other.
    { route: list, waitMs: (hung) => hung.length * socketMs },
    // 0.2 to 0.3 s: it reads files only.
    { route: summary, waitMs: () => 200 },
    // 40.3 s for a farm with one service: once for the farm, and once for each service.
    { route: configuration, waitMs: (hung, asked) => ofOne(hung, asked, (1 + servicesOf(asked)) * socketMs) },
    // 20.2 s; calls for other farms are answered meanwhile, in 0.5 s each.
    { route: partOfFarm, waitMs: (hung, asked) => ofOne(hung, asked, socketMs) },
  ],
  // ZEVENET CE 5.13: no call to the proxy ever ends, and each leaves a process until the proxy ends.
  zproxy: [
    { route: list, waitMs: () => webServerLimitMs },
    { route: summary, waitMs: () => 200 },
    { route: partOfFarm, waitMs: (hung, asked) => ofOne(hung, asked, webServerLimitMs) },
    // It kills the proxy.
    { route: action, waitMs: (hung, asked) => ofOne(hung, asked, 5_000) },
  ],
};

const socketMs = 20_150;
const healthyMs = 500;

/** Returns the milliseconds that a call takes at least; 0 while no proxy hangs. */
export function hungProxyWaitMs(world: World, route: string, path: string): number {
  const hung = hungFarms(world);
  if (hung.length === 0) return 0;
  const time = timesOf[world.proxy].find((each) => each.route.test(route));
  return time?.waitMs(hung, askedFarm(world, path)) ?? 0;
}

/** Counts the process of a call that zproxy never answers, at the farm where it waits. */
export function leaveProcess(world: World, path: string): void {
  if (world.proxy !== 'zproxy') return;
  const hung = hungFarms(world);
  const asked = askedFarm(world, path);
  const waiting = hung.find((farm) => farm === asked) ?? hung[0];
  if (waiting) waiting.leftProcesses = (waiting.leftProcesses ?? 0) + 1;
}

/** Ends the hang of a proxy, and with it the processes that waited for it. */
export function endHang(farm: Farm): void {
  if (farm.runState === 'hung') farm.runState = 'readable';
  farm.leftProcesses = 0;
}

/** Returns how many processes of calls without an answer are on the appliance. */
export function leftProcesses(world: World): number {
  return hungFarms(world).reduce((sum, farm) => sum + (farm.leftProcesses ?? 0), world.l4Daemon.leftProcesses);
}

function hungFarms({ farms }: World): readonly Farm[] {
  return inListOrder(farms.values()).filter(({ running, runState }) => running && runState === 'hung');
}

function askedFarm({ farms }: World, path: string): Farm | undefined {
  return path.split('/').flatMap((segment) => farms.get(decodeURIComponent(segment)) ?? [])[0];
}

function ofOne(hung: readonly Farm[], asked: Farm | undefined, ms: number): number {
  return asked && hung.includes(asked) ? ms : healthyMs;
}

function servicesOf(farm: Farm | undefined): number {
  return farm && 'services' in farm ? farm.services.length : 0;
}
