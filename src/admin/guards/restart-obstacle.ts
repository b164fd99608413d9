import type { ReplyOf } from '../../appliance/client.ts';
import type { GuardContext } from './guard.ts';

type ListedFarm = ReplyOf<'listFarms'>['params'][number];

/**
 * Returns what would prevent a farm from starting again (docs/api.md §5.1), as the end of a
 * sentence; undefined if nothing would.
 */
export async function restartObstacle({ read }: GuardContext, name: string): Promise<string | undefined> {
  const { params: farms } = await read('listFarms', {});
  const farm = farms.find(({ farmname }) => farmname === name);
  if (!farm) return 'GET /farms does not list it, so its address cannot be looked at';

  const { interfaces } = await read('listInterfaces', {});
  const carrier = (interfaces ?? []).find(({ ip }) => ip === farm.vip);
  if (!carrier) return `no interface has its address ${farm.vip}`;
  // The newest Community release leaves it out of the list of all for virtual interfaces
  // (docs/api.md §3.13).
  const status = carrier.status || (await virtualStatus(read, carrier.name));
  if (status !== 'up')
    return `the interface ${carrier.name} of its address ${farm.vip} is ${status || 'in no known state'}`;

  const own = portRanges(farm.vport ?? '');
  const rival = farms.find(
    (other) => other.farmname !== name && other.status !== 'down' && other.vip === farm.vip && meets(own, other),
  );
  return rival && `the running farm ${rival.farmname} has its address and port, ${rival.vip}:${rival.vport}`;
}

async function virtualStatus(read: GuardContext['read'], name: string): Promise<string> {
  const { interfaces } = await read('listVirtualInterfaces', {});
  return (interfaces ?? []).find((each) => each.name === name)?.status ?? '';
}

type PortRange = readonly [from: number, to: number];

function meets(own: readonly PortRange[], { vport }: ListedFarm): boolean {
  const ranges = portRanges(vport ?? '');
  return own.some(([from, to]) => ranges.some(([first, last]) => from <= last && first <= to));
}

/**
 * Fifty ports of five digits. A longer text counts as every port: comparing two that are made to be
 * long would take too long.
 */
const maxVportLength = 300;

/**
 * `80,443,6000:6010` and `*` of L4xNAT farms as ranges; a datalink farm has an interface there,
 * which meets no port.
 */
function portRanges(vport: string): readonly PortRange[] {
  if (vport === '*' || vport.length > maxVportLength) return [[1, 65_535]];
  return vport.split(',').map((part) => {
    const [from = '', to = from] = part.split(':');
    return [Number(from), Number(to)];
  });
}
