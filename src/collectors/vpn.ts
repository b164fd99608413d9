import { stateWord } from '../lib/states.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

interface VpnState {
  readonly name: string;
  readonly state: string;
}

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
const vpnRows = rowsOf((list: readonly VpnState[]) => list, { vpn: ({ name }) => name });

/**
 * VPN states from the list; the detail of a VPN holds its shared secret and is never polled
 * (docs/api.md §3.15).
 */
export const vpnCollector: ApplianceWideCollector<readonly VpnState[]> = {
  name: 'vpn',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: true,
  optional: true,
  refreshedBy: ['vpns'],
  async collect({ read }) {
    const list = (await read('listVpns', {})).params;
    return list.map(({ name, status }) => ({ name, state: stateWord(status) }));
  },
  families: [
    vpnRows.stateSet(
      'zlb_vpn_status',
      'State of a VPN, as the appliance words it (GET /vpns, status).',
      states,
      ({ state }) => state,
    ),
  ],
};
