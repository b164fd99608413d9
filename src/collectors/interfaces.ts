import type { Reply } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { counter, gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { type ApplianceCollector, closedState, type CollectContext } from './collector.ts';
import { mebibytesToBytes } from './mebibytes.ts';

const received = counter(
  'zlb_interface_receive_bytes_total',
  'Bytes received since boot, in steps of about 10 kB (GET /stats/system/network, in).',
  ['interface'],
);
const sent = counter(
  'zlb_interface_transmit_bytes_total',
  'Bytes sent since boot, in steps of about 10 kB (GET /stats/system/network, out).',
  ['interface'],
);
const up = gauge(
  'zlb_interface_up',
  '1 when the interface is up; absent when the appliance does not say (GET /interfaces and /interfaces/virtual, status).',
  ['interface'],
);
const info = gauge(
  'zlb_interface_info',
  'An interface, its addresses and its parent (GET /interfaces and /interfaces/virtual).',
  ['interface', 'kind', 'ip', 'mac', 'parent'],
);

type Traffic = Reply<'readNetworkStats'>['params']['interfaces'];
type Interface = NonNullable<Reply<'listInterfaces'>['interfaces']>[number];

/** Traffic and state of the interfaces. */
export const interfaces: ApplianceCollector = {
  name: 'interfaces',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  touchedBy: ['interfaces'],
  families: [received, sent, up, info],
  async collect(context) {
    const traffic = (await context.read('readNetworkStats', {})).params.interfaces;
    const list = await listWithVirtual(context);
    return {
      expose: (emit) => exposeInterfaces(traffic, list, emit),
      found: [
        {
          family: info,
          findings: {
            interfaces: list.map(({ name, status }) => ({
              name,
              state: closedState('interface', status || 'unknown'),
            })),
          },
        },
      ],
      states: list.map(({ name, status }) => ({
        object: 'interface',
        labels: { interface: name },
        state: status || 'unknown',
      })),
    };
  },
};

/** The newest release leaves the status of a virtual interface empty in the list of all and has it in the list of virtual ones (WIRE.md §3.13). */
async function listWithVirtual({ read }: CollectContext): Promise<Interface[]> {
  const all = (await read('listInterfaces', {})).interfaces ?? [];
  const virtual = await listVirtual(read);
  const byName = new Map(virtual.map((each) => [each.name, each]));
  return all.map((each) => {
    const better = byName.get(each.name);
    return better ? { ...each, status: each.status || (better.status ?? ''), parent: better.parent ?? null } : each;
  });
}

async function listVirtual(read: CollectContext['read']): Promise<Interface[]> {
  try {
    return (await read('listVirtualInterfaces', {})).interfaces ?? [];
  } catch (error) {
    if (error instanceof ApplianceError && error.routeMissing) return [];
    throw error;
  }
}

function exposeInterfaces(traffic: Traffic, list: readonly Interface[], emit: Emit): void {
  for (const each of traffic) {
    emit.sample(received, { interface: each.interface }, mebibytesToBytes(each.in));
    emit.sample(sent, { interface: each.interface }, mebibytesToBytes(each.out));
  }
  for (const each of list) {
    emit.sample(up, { interface: each.name }, each.status === 'up' ? 1 : each.status === 'down' ? 0 : null);
    emit.info(info, {
      interface: each.name,
      kind: each.type ?? '',
      ip: each.ip ?? '',
      mac: each.mac ?? '',
      parent: each.parent ?? parentOf(each.name),
    });
  }
}

/** `eth0:web` is a virtual interface of `eth0`, `eth0.100` a VLAN on it. */
function parentOf(name: string): string {
  const end = name.includes(':') ? name.indexOf(':') : name.lastIndexOf('.');
  return end > 0 ? name.slice(0, end) : '';
}
