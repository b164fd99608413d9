import { stateWord } from '../lib/states.ts';
import type { ReplyOf } from '../appliance/client.ts';
import { type ApplianceWideCollector, type CollectContext, orIfMissing } from './collector.ts';
import { applianceObject, reportedSettings } from './configured.ts';
import { mebibytesToBytes } from './system.ts';
import { rowsOf } from './rows.ts';

export interface Interfaces {
  readonly traffic: readonly Traffic[];
  readonly interfaces: readonly Interface[];
}

export interface Traffic {
  readonly name: string;
  /** Bytes since boot; undefined if unknown. */
  readonly receivedBytes: number | undefined;
  readonly sentBytes: number | undefined;
}

export interface Interface {
  readonly name: string;
  /** The appliance's word, see `statesOf.interface`. */
  readonly state: string;
  readonly kind: string;
  readonly ip: string;
  readonly mac: string;
  readonly parent: string;
}

const trafficRows = rowsOf(({ traffic }: Interfaces) => traffic, { interface: ({ name }) => name });
const interfaceRows = rowsOf(({ interfaces }: Interfaces) => interfaces, { interface: ({ name }) => name });

export const interfacesCollector: ApplianceWideCollector<Interfaces> = {
  name: 'interfaces',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  refreshedBy: ['interfaces'],
  async collect(context) {
    const traffic = (await context.read('readNetworkStats', {})).params.interfaces;
    const list = await listWithVirtual(context);
    return {
      traffic: traffic.map((each) => ({
        name: each.interface,
        receivedBytes: mebibytesToBytes(each.in),
        sentBytes: mebibytesToBytes(each.out),
      })),
      interfaces: list.map((each) => ({
        name: each.name,
        state: stateWord(each.status),
        kind: each.type ?? '',
        ip: each.ip ?? '',
        mac: each.mac ?? '',
        parent: each.parent ?? parentOf(each.name),
      })),
    };
  },
  entity: interfaceRows.entity('interface', ({ state }) => state),
  configuredObjects: ({ interfaces }) =>
    interfaces.map(({ name, kind, ip, mac, parent }) =>
      // Every interface has these; without an address, it has none.
      applianceObject('interface', name, { ip, ...reportedSettings({ kind, mac, parent }) }),
    ),
  families: [
    trafficRows.counter(
      'zlb_interface_receive_bytes_total',
      'Bytes received since boot, in steps of about 10 kB (GET /stats/system/network, in).',
      ({ receivedBytes }) => receivedBytes,
    ),
    trafficRows.counter(
      'zlb_interface_transmit_bytes_total',
      'Bytes sent since boot, in steps of about 10 kB (GET /stats/system/network, out).',
      ({ sentBytes }) => sentBytes,
    ),
    interfaceRows.gauge(
      'zlb_interface_up',
      '1 when the interface is up; absent when the appliance does not say (GET /interfaces and /interfaces/virtual, status).',
      ({ state }) => (state === 'up' ? 1 : state === 'down' ? 0 : undefined),
    ),
    interfaceRows.info(
      'zlb_interface_info',
      'An interface, its addresses and its parent (GET /interfaces and /interfaces/virtual).',
      { kind: ({ kind }) => kind, ip: ({ ip }) => ip, mac: ({ mac }) => mac, parent: ({ parent }) => parent },
    ),
  ],
};

type ListedInterface = NonNullable<ReplyOf<'listInterfaces'>['interfaces']>[number];

/**
 * Lists all interfaces. The newest release leaves the status of a virtual interface empty in the
 * list of all and has it in the list of virtual ones (docs/api.md §3.13).
 */
async function listWithVirtual({ read }: CollectContext): Promise<readonly ListedInterface[]> {
  const all = (await read('listInterfaces', {})).interfaces ?? [];
  const virtual = await orIfMissing(
    async () => (await read('listVirtualInterfaces', {})).interfaces ?? [],
    () => [],
  );
  const byName = new Map(virtual.map((each) => [each.name, each]));
  return all.map((each) => {
    const better = byName.get(each.name);
    return better ? { ...each, status: each.status || (better.status ?? ''), parent: better.parent ?? null } : each;
  });
}

/** Returns the parent: `eth0:web` is a virtual interface of `eth0`, `eth0.100` a VLAN on it. */
function parentOf(name: string): string {
  const end = name.includes(':') ? name.indexOf(':') : name.lastIndexOf('.');
  return end > 0 ? name.slice(0, end) : '';
}
