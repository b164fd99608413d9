import { createApi } from '../../simulator/api.ts';
import { hungProxyWaitMs, webServerLimitMs } from '../../simulator/hung-proxy.ts';
import { actOnL4Daemon } from '../../simulator/l4-daemon.ts';
import { dress } from '../../simulator/response.ts';
import type { World } from '../../simulator/world.ts';
import type { EndpointRow } from '../../src/appliance/api/row.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import type { ApplianceClient, CallReport } from '../../src/appliance/client.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { maxValuesOf } from '../../src/appliance/reply-bounds.ts';
import { fillTemplate, parseRoute } from '../../src/appliance/route.ts';
import { sleep } from '../../src/lib/time.ts';
import { checkAnswer } from './check-answer.ts';

/** The cost of one call for the appliance. */
export interface CallCost {
  /** The time that it takes. */
  readonly seconds: number;
  /** The part of it in which the appliance works. */
  readonly workSeconds: number;
}

/** One call that was made, and when it was answered. */
export interface MadeCall extends CallCost {
  readonly route: string;
  readonly path: string;
  readonly atMs: number;
}

const apiKey = 'key-of-root';
const usual = 0.052;
/** The seconds of the one call that a check of the vendor's plug-in makes: the state of a farm. */
export const secondsOfPluginCall = usual;

/** Seconds of calls on a real appliance, as recorded (test/recorded), and how they grow by farm. */
const recorded: Readonly<Record<string, number | ((farms: number) => number)>> = {
  'GET /farms': (farms) => 0.04 + 0.0065 * farms,
  'GET /stats/farms': (farms) => 0.04 + 0.03 * farms,
  'GET /stats/farms/{farmname}': 0.16,
  'GET /farms/{farmname}': 0.07,
  'GET /certificates': 0.095,
  'GET /certificates/{file}/info': 0.076,
  'GET /certificates/activation/info': 0.25,
};
/** This call sleeps while it samples the processor. */
const sleeping = { route: 'GET /stats', seconds: 1.05, workSeconds: 0.05 } as const;

function costOf(route: string, farms: number): CallCost {
  if (route === sleeping.route) return sleeping;
  const found = recorded[route] ?? usual;
  const seconds = typeof found === 'number' ? found : found(farms);
  return { seconds, workSeconds: seconds };
}

/** Returns how long a call waits for a proxy, or for the daemon of L4 farms; does what it does to that. */
function waitMsOf(world: World, route: string, path: string): number {
  return actOnL4Daemon(world, route, path) ? webServerLimitMs : hungProxyWaitMs(world, route, path);
}

/** The default settings of polling. */
export const defaultPolling = {
  timeoutMs: 20_000,
  maxConcurrentPerAppliance: 1,
  maxBusyRatio: 0.25,
  routineBusyRatio: 0.03,
  jitterRatio: 0.1,
} as const;

/** Trouble of an appliance beside that of its farms. */
export interface Trouble {
  /** True while it answers nothing. */
  readonly isSilent?: boolean;
  /** The status with which it refuses everything. */
  readonly refusesWith?: number | undefined;
}

/**
 * Connects to a simulated appliance without a network: its calls take as long as recorded, by the
 * clock of this process, and longer while proxies hang. Keeps each of them.
 */
export function connectTo(world: World, trouble: () => Trouble = () => ({})) {
  const api = createApi(world);
  const calls: MadeCall[] = [];
  const root = world.users.get('root');
  if (root) root.key = apiKey;

  function answer(path: string) {
    const request = { method: 'GET', headers: { zapi_key: apiKey }, content: Buffer.alloc(0) };
    const reply = api.answer({ ...request, path, shown: path, nowMs: Date.now() });
    const { status, headers, body } = dress(reply, { release: world.release, nowMs: Date.now(), gzip: false });
    const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
    return { status, mediaType: type.replace(/;.*/, ''), text: body.toString() };
  }

  const connect = (onCall: (report: CallReport) => void): ApplianceClient => ({
    async read(key, params, signal, { limitMs } = {}) {
      const row: EndpointRow = endpoints[key];
      const { template: endpoint } = parseRoute(row.route);
      const path = fillTemplate(endpoint, params) ?? '';
      const { workSeconds, ...cost } = costOf(row.route, world.farms.size);
      const { isSilent = false, refusesWith } = trouble();
      const waitMs = Math.min(waitMsOf(world, row.route, path), webServerLimitMs);
      const neededMs = isSilent ? Number.POSITIVE_INFINITY : Math.max(cost.seconds * 1_000, waitMs);
      const allowedMs = limitMs ?? Math.max(defaultPolling.timeoutMs, row.maxProxyWaitMs ?? 0);
      const seconds = Math.min(neededMs, allowedMs) / 1_000;
      await sleep(seconds * 1_000, signal);
      calls.push({ seconds, workSeconds, route: row.route, path, atMs: performance.now() });
      const report = { method: 'GET', endpoint, seconds, waitsForProxies: row.maxProxyWaitMs !== undefined };
      if (neededMs > allowedMs) {
        onCall({ ...report, code: 'timeout', reason: 'timeout', authenticated: false, clockOffsetSeconds: undefined });
        throw new ApplianceError('timeout', { endpoint, message: '' });
      }
      const status = waitMs === webServerLimitMs ? 504 : refusesWith;
      const answered = status === undefined ? answer(path) : { status, mediaType: 'text/html', text: '' };
      const expected = { schema: row.reply ?? {}, maxValues: maxValuesOf(row.maxValues, 8 * 1_048_576) };
      const checked = checkAnswer(answered, { ...expected, onUnreadable: () => undefined });
      const reason = 'reason' in checked ? checked.reason : undefined;
      const code = String(answered.status);
      onCall({ ...report, code, reason, authenticated: checked.provesKey, clockOffsetSeconds: 0 });
      if ('value' in checked) return checked.value as never;
      const routeMissing = answered.status === 404;
      throw new ApplianceError(checked.reason, { endpoint, status: answered.status, routeMissing, message: '' });
    },
    retire: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });
  return { connect, calls };
}
