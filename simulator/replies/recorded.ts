import { type Call, type Handlers, json, param, read, refuse } from '../call.ts';
import { graphDate } from '../dates.ts';
import { farmOf } from './find.ts';

const systemGraphs = ['cpu', 'load', 'ram', 'swap'];
const disks = ['root/'];
/** A PNG of one pixel. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=\n';
const snmp = { status: 'false', ip: '*', port: '161', scope: '0.0.0.0/0' };
/** Days of each. */
const periods = new Map([
  ['daily', 1],
  ['weekly', 7],
  ['monthly', 30],
  ['yearly', 365],
]);

/** Reads that no state is behind: they answer as they were recorded. */
export const recordedHandlers: Handlers = {
  'GET /certificates/letsencrypt/config': () => read({ email: '' }),
  'GET /system/dns': () => read({ primary: '192.0.2.53', secondary: '' }),
  'GET /system/proxy': () => read({ http_proxy: '', https_proxy: '' }),
  'GET /system/ntp': () => read({ server: 'pool.ntp.org' }),
  'GET /system/snmp': ({ world }) => read({ ...snmp, community: world.settings.snmpCommunity }),
  'GET /vpns/modules/summary': () => read({ site_to_site: [], tunnel: [], remote_access: [] }),

  'GET /graphs': ({ world }) =>
    json(200, { farms: running(world), interfaces: counting(world), system: [...systemGraphs, { disks }] }),
  'GET /graphs/system': () => json(200, { system: [...systemGraphs, { disk: disks }] }),
  'GET /graphs/system/disk': () => read(disks),
  'GET /graphs/interfaces': ({ world }) => json(200, { interfaces: counting(world) }),
  'GET /graphs/farms': ({ world }) => json(200, { farms: running(world) }),
  'GET /graphs/system/cpu/{frequency}': graph,
  'GET /graphs/farms/{farmname}/{frequency}': (call) => {
    farmOf(call);
    return graph(call);
  },
  'GET /graphs/farms/{farmname}': (call) => {
    farmOf(call);
    return json(200, { graphs: [...periods.keys()].map((frequency) => ({ frequency, graph: image })) });
  },
};

function graph(call: Call) {
  const days = periods.get(param(call, 'frequency')) ?? refuse(400, 'Daily, weekly, monthly or yearly.');
  const [start_time, last_time] = [call.nowMs - days * 86_400_000, call.nowMs].map(graphDate);
  return json(200, { graphs: image, start_time, last_time });
}

function running({ farms }: Call['world']): readonly string[] {
  return [...farms.values()].flatMap((farm) => (farm.running ? [farm.name] : [])).sort();
}

function counting({ interfaces }: Call['world']): readonly string[] {
  return [...interfaces.values()].flatMap(({ name, traffic }) => (traffic ? [name] : []));
}
