import { isIP } from 'node:net';
import type { DemonstrationAppliance } from '../../../simulator/demo.ts';
import { farmsWithoutTcp } from '../../../simulator/world-farms.ts';
import { parseListenAddress } from '../../lib/address.ts';

/**
 * Returns the part of a configuration that watches simulated appliances: each is pinned to its
 * certificate, its farms are probed, and the log of their requests is received.
 */
export function watchedSimulation(
  appliances: readonly DemonstrationAppliance[],
  apiKey: string,
  requestLog: string,
): object {
  return {
    appliances: appliances.map(({ name, appliance, logsFrom }) => ({
      name,
      url: appliance.url,
      api_key: apiKey,
      tls: { fingerprint_sha256: appliance.fingerprintSha256 },
      labels: { site: name.split('-')[1] ?? '' },
      vip: vipOf(appliance),
      requests: { from: [logsFrom], objectives: name === 'lb-madrid' ? [objective] : [] },
    })),
    requests: { listen_tcp: requestLog },
    collectors: { vip: { enabled: true } },
  };
}

/** One that is nearly missed while a backend fails, for one minute in four. */
const objective = { farm: 'shop', availability: '99%', latency: '300ms for 95%' };

/** Lets the appliances with traffic send the lines of their farms to the exporter. */
export function sendLogsTo(address = '', appliances: readonly DemonstrationAppliance[]): void {
  const { host: ip, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  for (const { name, appliance } of appliances)
    if (['lb-paris-1', 'lb-madrid', 'lb-berlin', 'lb-sevilla'].includes(name))
      appliance.world.remoteSyslog = { ip, port };
}

/**
 * Leads the probe to the simulated farms, whose addresses are for documents (RFC 5737). No other
 * address is allowed: a farm that somebody creates at one would be looked for off this machine.
 */
function vipOf({ farms, world }: DemonstrationAppliance['appliance']): object {
  const led = farms?.addresses ?? {};
  return {
    connect_to: led,
    networks: [...Object.keys(led).filter((place) => isIP(place) !== 0), '127.0.0.0/8'],
    udp_farms: farmsWithoutTcp(world.farms.values()),
  };
}
