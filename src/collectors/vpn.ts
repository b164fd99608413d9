import { stateSet } from '../metrics/family.ts';
import { type ApplianceCollector, stateWord } from './collector.ts';

const states = [
  'up',
  'down',
  'connecting',
  'unloaded',
  'ipsec_down',
  'tunnel_down',
  'l2tp_down',
  'route_down',
  'needed_restart',
  'unknown',
] as const;
const status = stateSet(
  'zlb_vpn_status',
  'State of a VPN, as the appliance words it (GET /vpns, status).',
  ['vpn'],
  states,
);

/** VPN states from the list; the detail of a VPN holds its shared secret and is never polled (WIRE.md §3.15). */
export const vpn: ApplianceCollector = {
  name: 'vpn',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: true,
  optional: true,
  touchedBy: ['vpns'],
  families: [status],
  async collect({ read }) {
    const list = (await read('listVpns', {})).params;
    return {
      expose: (emit) => {
        for (const each of list) emit.state(status, { vpn: each.name }, stateWord(each.status));
      },
    };
  },
};
