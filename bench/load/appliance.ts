import { createApi } from '../../simulator/api.ts';
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

/**
 * Connects to a simulated appliance without a network: its calls take as long as recorded, by the
 * clock of this process. Keeps each of them.
 */
export function connectTo(world: World) {
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
    async read(key, params, signal) {
      const row: EndpointRow = endpoints[key];
      const { template: endpoint } = parseRoute(row.route);
      const path = fillTemplate(endpoint, params) ?? '';
      const cost = costOf(row.route, world.farms.size);
      await sleep(cost.seconds * 1_000, signal);
      calls.push({ ...cost, route: row.route, path, atMs: performance.now() });
      const answered = answer(path);
      const expected = { schema: row.reply ?? {}, maxValues: maxValuesOf(row.maxValues, 8 * 1_048_576) };
      const checked = checkAnswer(answered, { ...expected, onUnreadable: () => undefined });
      const reason = 'reason' in checked ? checked.reason : undefined;
      const asksProxies = row.patienceMs !== undefined;
      const report = {
        method: 'GET',
        endpoint,
        code: String(answered.status),
        reason,
        seconds: cost.seconds,
        asksProxies,
      };
      onCall({ ...report, authenticated: checked.provesKey, clockOffsetSeconds: 0 });
      if ('value' in checked) return checked.value as never;
      const routeMissing = answered.status === 404;
      throw new ApplianceError(checked.reason, { endpoint, status: answered.status, routeMissing, message: '' });
    },
    retire: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });
  return { connect, calls };
}
