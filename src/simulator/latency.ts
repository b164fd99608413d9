import type { World } from './world.ts';

/** Seconds that each call took on a real appliance (test/recorded); what is not listed takes `usual`. */
const measured: Readonly<Record<string, number>> = {
  'GET /stats': 1.05,
  'GET /farms': 0.09,
  'GET /farms/modules/summary': 0.055,
  'GET /farms/modules/lslb': 0.09,
  'GET /farms/{farmname}': 0.07,
  'GET /certificates': 0.095,
  'GET /certificates/{file}/info': 0.076,
  'GET /ids': 0.09,
  'GET /stats/farms/{farmname}': 0.16,
  'GET /stats/farms/{farmname}/backends': 0.16,
  'GET /system/language': 0.024,
  'GET /system/cluster/nodes': 2.5,
  'GET /ipds/package': 1.4,
  'GET /certificates/activation/info': 0.25,
  'POST /farms': 0.3,
  'PUT /farms/{farmname}/actions': 2.5,
  'POST /certificates': 0.19,
  'POST /system/snmp': 1.06,
};
const usual = 0.052;
const perFarm = 0.03;

/** Milliseconds that a call takes; the jitter of ±15 % depends on how many calls came before and on nothing else. */
export function latencyMs(world: World, route: string, callNumber: number): number {
  const seconds = route === 'GET /stats/farms' ? 0.04 + perFarm * world.farms.size : (measured[route] ?? usual);
  const jitter = 0.85 + 0.3 * (((callNumber * 2_654_435_761) % 4_294_967_296) / 4_294_967_296);
  return Math.round(seconds * jitter * 1_000);
}
