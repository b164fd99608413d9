import type { Farm } from './world-farms.ts';
import type { World } from './world.ts';

/**
 * The fault "hung proxy": how long each read takes while proxies of HTTP farms do not answer the
 * appliance (`runState: 'hung'`). Measured on RELIANOID CE 7.9.0 and SKUDONET CE 7.1.0 with the
 * proxies of one and two farms stopped by SIGSTOP. The appliance waits 20 s for each control
 * socket.
 */
const times: readonly {
  readonly route: RegExp;
  readonly waitMs: (hung: readonly Farm[], asked: Farm | undefined) => number;
}[] = [
  // 20.2 to 22.7 s with one, 40.5 s with two: one proxy after the other.
  { route: /^GET \/(?:stats\/farms|farms|farms\/modules\/lslb)$/, waitMs: (hung) => hung.length * socketMs },
  // 0.2 to 0.3 s: it reads files only.
  { route: /^GET \/farms\/modules\/summary$/, waitMs: () => 200 },
  // 40.3 s for a farm with one service: once for the farm, and once for each service.
  { route: /^GET \/farms\/\{farmname\}$/, waitMs: (hung, asked) => ofOne(hung, asked, 1 + servicesOf(asked)) },
  // 20.2 s; calls for other farms are answered meanwhile, in 0.5 s each.
  {
    route: /^GET \/(?:stats\/)?farms\/\{farmname\}\/?(?:status|summary|backends|services.*)?$/,
    waitMs: (hung, asked) => ofOne(hung, asked, 1),
  },
];

const socketMs = 20_150;
const healthyMs = 500;

/** The web server of the appliance ends a request then, with 504. */
export const webServerLimitMs = 60_000;

/** Returns the milliseconds that a call takes at least; 0 while no proxy hangs. */
export function hungProxyWaitMs({ farms }: World, route: string, path: string): number {
  const hung = [...farms.values()].filter(({ running, runState }) => running && runState === 'hung');
  if (hung.length === 0) return 0;
  const asked = path.split('/').flatMap((segment) => farms.get(decodeURIComponent(segment)) ?? [])[0];
  return times.find((each) => each.route.test(route))?.waitMs(hung, asked) ?? 0;
}

function ofOne(hung: readonly Farm[], asked: Farm | undefined, sockets: number): number {
  return asked && hung.includes(asked) ? sockets * socketMs : healthyMs;
}

function servicesOf(farm: Farm | undefined): number {
  return farm && 'services' in farm ? farm.services.length : 0;
}
