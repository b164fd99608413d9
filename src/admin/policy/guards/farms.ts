import { stateWord } from '../../../lib/states.ts';
import { ApplianceError } from '../../../appliance/errors.ts';
import { type Farm, farmOf, isHttp, type KnownFarm, type Proxy, proxyOf } from '../../../appliance/farm.ts';
import { type SafeFarmName, profilesIn, safeFarmName } from '../../../appliance/safe-farm-name.ts';
import { joinFirst } from '../../../lib/text.ts';
import { steadyNow } from '../../../lib/time.ts';
import { applianceProxy, l4DaemonUse, farmOfCall } from '../l4-daemon.ts';
import { callParam, couldMean, type Guard, type GuardContext } from './guard.ts';

/** The least time that a proxy has to answer the appliance, which itself waits 20 s for it. */
const proxyAnswersMs = 5_000;

/**
 * Reads the farm in the path with two calls; undefined if the appliance has none of that name. The
 * first one asks no proxy, and shows how slow the appliance is. The second one is left out for a farm
 * that is known to be silent: it might never end.
 */
export async function calledFarm(context: GuardContext): Promise<Farm | undefined> {
  const name = callParam(context, 'farmname');
  const startSteadyMs = steadyNow();
  const listed = profilesIn(await context.read('readFarmsSummary', {}))?.get(name);
  const limitMs = Math.max(proxyAnswersMs, 4 * (steadyNow() - startSteadyMs));
  const profile = listed ?? '';
  if (listed !== undefined && isKnownSilent(context, name)) return { name, profile, state: 'unknown', isSilent: true };
  try {
    const { params } = await context.read('readFarmStatus', { farmname: name }, limitMs);
    return { name, profile, state: stateWord(params.status) };
  } catch (error) {
    // Its proxy does not answer the appliance, which says nothing about the others.
    if (listed !== undefined && error instanceof ApplianceError && error.reason === 'timeout')
      return { name, profile, state: 'unknown', isSilent: true };
    // A listed farm has a status, so this release lacks the call.
    if (listed === undefined && isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns true for a farm whose proxy does not answer the appliance, as the exporter read it last. */
export function isKnownSilent({ knownFarms }: Pick<GuardContext, 'knownFarms'>, name = ''): boolean {
  return knownFarms()?.some((farm) => farm.name === name && farm.isSilent) ?? false;
}

/**
 * Returns true if the API does not know the object: it refuses the call itself, so there is nothing
 * to guard.
 */
export function isMissing(error: unknown): boolean {
  return error instanceof ApplianceError && error.routeMissing;
}

/** docs/api.md §5.1: only L4xNAT farms are known to ignore a second start. */
const hardRestart: Guard = {
  name: 'hard_restart',
  effect: 'refuses',
  operations: ['actOnFarm'],
  about: 'A start kills a running HTTP farm first; if it cannot start again, it stays down.',
  async inspect(context) {
    if (!couldMean(context, 'start')) return undefined;
    const farm = await calledFarm(context);
    if (!farm || farm.state === 'down' || farm.profile === 'l4xnat') return undefined;
    return {
      severity: 'blocking',
      message: `The farm ${farm.name} is running (${farm.state === 'unknown' ? 'unknown status' : farm.state.replaceAll('_', ' ')}), and a start kills a running farm before it starts it again: its open connections drop, and if its address or port is not free then, it stays down.`,
      remedy: 'Send the action restart to restart it. Otherwise do nothing: it is running.',
    };
  },
};

/** docs/api.md §5.1: a restart stops the farm before it looks whether it can start it. */
const restartMayLeaveDown: Guard = {
  name: 'restart_may_leave_down',
  effect: 'refuses or warns',
  operations: ['actOnFarm'],
  about:
    'A restart stops the farm first. It stays down if its address or port is not free, or the file of a certificate is gone.',
  async inspect(context) {
    const isRestart = couldMean(context, 'restart');
    if (!isRestart && !couldMean(context, 'start')) return undefined;
    const farm = await calledFarm(context);
    // A farm that is down already cannot be left down; L4xNAT farms accept a second start.
    if (!farm || farm.state === 'down' || (!isRestart && farm.profile === 'l4xnat')) return undefined;

    const farms = await farmsWithAddresses(context, farm);
    const obstacle = farms && (await restartObstacle(context, farm, farms));
    if (obstacle !== undefined) {
      return {
        severity: 'blocking',
        message: `The farm ${farm.name} would be stopped, and could not start again: ${obstacle}.`,
        remedy: 'Solve that first; the farm keeps running until then.',
      };
    }
    // hard_restart says what a start does.
    if (!isRestart) return undefined;
    if (farm.isSilent)
      return {
        severity: 'warning',
        message: `The proxy of the farm ${farm.name} does not answer the appliance; a restart is the repair. Its open connections drop.${farms ? '' : ' Its address and port were not checked: the list that has them waits for its proxy.'}`,
        remedy: 'Restart it, then read its status.',
      };
    const http =
      farm.profile === 'http' ? ' at once, without being drained, and for about two seconds it serves nobody' : '';
    return {
      severity: 'warning',
      message: `The farm ${farm.name} is stopped and started again; its open connections drop${http}. Its address, its port and the files of its certificates were checked.`,
      remedy: 'Do it when few are connected, or drain what is in front of it first.',
    };
  },
};

/**
 * Lists the addresses of all farms; those that were read last where a proxy hangs, since the list
 * would wait 20 s for each, or never end. Undefined for a silent farm whose address nobody knows.
 */
async function farmsWithAddresses(
  { read, knownFarms }: GuardContext,
  called: Farm,
): Promise<readonly KnownFarm[] | undefined> {
  const known = knownFarms();
  const isPlaced = known?.some(({ name, vip }) => name === called.name && vip !== undefined);
  if (known && !isPlaced && called.isSilent) return undefined;
  if (known && isPlaced && (called.isSilent || known.some(({ isSilent }) => isSilent))) return known;
  try {
    return (await read('listFarms', {}, isPlaced || called.isSilent ? proxyAnswersMs : undefined)).params.map(farmOf);
  } catch (error) {
    const isLate = error instanceof ApplianceError && error.reason === 'timeout';
    if (isLate && (isPlaced || called.isSilent)) return known;
    throw error;
  }
}

/**
 * Returns what would prevent a farm from starting again (docs/api.md §5.1), as the end of a
 * sentence; undefined if nothing would.
 */
async function restartObstacle(
  { read }: Pick<GuardContext, 'read'>,
  called: Farm,
  farms: readonly KnownFarm[],
): Promise<string | undefined> {
  const { name } = called;
  const farm = farms.find((each) => each.name === name);
  if (!farm) return 'GET /farms does not list it, so its address cannot be looked at';

  const { interfaces } = await read('listInterfaces', {});
  const carrier = (interfaces ?? []).find(({ ip }) => ip === farm.vip);
  if (!carrier) return `no interface has its address ${farm.vip}`;
  // The newest Community release leaves it out of the list of all for virtual interfaces
  // (docs/api.md §3.13).
  const status = carrier.status || (await virtualStatus(read, carrier.name));
  if (status !== 'up')
    return `the interface ${carrier.name} of its address ${farm.vip} is ${status || 'in no known state'}`;

  const ownPorts = portRanges(farm.vport ?? '');
  const rival = farms.find(
    (other) => other.name !== name && other.state !== 'down' && other.vip === farm.vip && sharesPort(ownPorts, other),
  );
  if (!rival) return farm.profile === 'https' ? await missingCertificate(read, called, farm) : undefined;
  return `the running farm ${rival.name} has its address and port, ${rival.vip}:${rival.vport}`;
}

/** An HTTPS farm does not start without the files of its certificates. */
async function missingCertificate(
  read: GuardContext['read'],
  { name, isSilent }: Farm,
  { profile, certificates }: KnownFarm,
): Promise<string | undefined> {
  const safeName = isSilent ? undefined : safeFarmName(name, profile);
  const files = certificates ?? (safeName ? await readCertificatesOf(read, safeName) : []);
  if (files.length === 0) return undefined;
  try {
    const { params: store } = await read('listCertificates', {});
    const missing = files.find((file) => !store.some((each) => each.file === file));
    return missing && `the store does not have the file of its certificate ${missing}`;
  } catch (error) {
    // A key for only farms may restart one: it is the right of its user.
    if (error instanceof ApplianceError && error.reason === 'forbidden') return undefined;
    throw error;
  }
}

async function readCertificatesOf(read: GuardContext['read'], farmname: SafeFarmName): Promise<readonly string[]> {
  const { params } = await read('readFarm', { farmname });
  return (params.certlist ?? []).flatMap(({ file }) => (file && file !== '-1' ? [file] : []));
}

async function virtualStatus(read: GuardContext['read'], name: string): Promise<string> {
  const { interfaces } = await read('listVirtualInterfaces', {});
  return (interfaces ?? []).find((each) => each.name === name)?.status ?? '';
}

type PortRange = readonly [from: number, to: number];

function sharesPort(own: readonly PortRange[], { vport }: Farm): boolean {
  const ranges = portRanges(vport ?? '');
  return own.some(([from, to]) => ranges.some(([first, last]) => from <= last && first <= to));
}

/**
 * Fifty ports of five digits. A longer text counts as every port: comparing two that are made to be
 * long would take too long.
 */
const maxVportLength = 300;

/**
 * Parses `80,443,6000:6010` and `*` of L4xNAT farms into ranges; a datalink farm has an interface
 * instead, which matches no port.
 */
function portRanges(vport: string): readonly PortRange[] {
  if (vport === '*' || vport.length > maxVportLength) return [[1, 65_535]];
  return vport.split(',').map((part) => {
    const [from = '', to = from] = part.split(':');
    return [Number(from), Number(to)];
  });
}

/**
 * Looks at nothing: in an emergency a farm must be stoppable on an appliance that answers nothing
 * else.
 */
const stopFarm: Guard = {
  name: 'stop_farm',
  effect: 'warns',
  operations: ['actOnFarm'],
  about: 'A stopped farm serves nobody, also after a reboot of the appliance.',
  async inspect(context) {
    if (!couldMean(context, 'stop')) return undefined;
    return {
      severity: 'warning',
      message: `The farm ${callParam(context, 'farmname')} serves nobody once it is stopped: its open connections end, and it stays stopped when the appliance reboots.`,
      remedy: 'Drain its backends first if connections are to end by themselves; the action start puts it back.',
    };
  },
};

/**
 * docs/api.md §4.1: ZEVENET answers 201 to a farm on an address and port that another has, and the
 * farm stays down.
 */
const addressInUse: Guard = {
  name: 'address_in_use',
  effect: 'refuses or warns',
  operations: ['createFarm'],
  about: 'Some releases create a farm on an address and port that another farm has, and it can never start.',
  async inspect({ fields, knownFarms, read }) {
    const { vip, vport, profile } = fields;
    if (typeof vip !== 'string' || !['string', 'number'].includes(typeof vport)) return undefined;
    const known = knownFarms()?.filter((farm) => farm.vip !== undefined);
    const farms = known ?? (await read('listFarms', {})).params.map(farmOf);
    const own = portRanges(String(vport));
    const rival = farms.find((farm) => farm.vip === vip && sharesPort(own, farm));
    if (!rival) return undefined;
    // Those of L4 farms may be of another protocol.
    const areSure = [profile, rival.profile].every((each) => typeof each === 'string' && isHttp(each));
    return {
      severity: areSure ? 'blocking' : 'warning',
      message: `The farm ${rival.name} has this address and port, ${rival.vip}:${rival.vport}. The appliance may create the new one nevertheless, and it stays down${areSure ? '' : ', unless their protocols differ'}.`,
      remedy: 'Take another address or port.',
    };
  },
};

/**
 * docs/api.md §4.8. Reads nothing before a stop, which must be possible on an appliance that answers
 * nothing else.
 */
const reachesL4Daemon: Guard = {
  name: 'reaches_l4_daemon',
  effect: 'warns',
  operations: ['actOnFarm', 'createFarm', 'deleteFarm', 'moveService'],
  about:
    'What starts or stops an L4 farm, or an HTTP farm of zproxy, calls the daemon of all L4 farms: if it has died, that cuts them.',
  async inspect(context) {
    const { operationId, params, fields, knownFarms } = context;
    const isAction = ['start', 'stop', 'restart'].some((word) => couldMean(context, word));
    if (operationId === 'actOnFarm' && !isAction) return undefined;
    const isEmergency = couldMean(context, 'stop') || operationId === 'deleteFarm';
    const farms = knownFarms() ?? (isEmergency ? [] : await readFarmsOrNone(context));
    const called = farmOfCall(params, fields, farms);
    const others = farms.filter(({ name, profile }) => profile === 'l4xnat' && name !== called.name);
    if (others.length === 0 || called.name === '') return undefined;
    const proxy = applianceProxy(farms) ?? (isEmergency ? undefined : await readProxy(context, called));
    const use = l4DaemonUse(operationId, called, proxy);
    if (use === 'none') return undefined;
    const names = joinFirst(others.map(({ name }) => name));
    const unless = use === 'possible' ? 'If the proxy of this appliance is zproxy, this' : 'This';
    const hung =
      called.profile === 'l4xnat' ? '' : ` If it hangs, ${called.name} is stopped, and starts only when it goes on.`;
    return {
      severity: 'warning',
      message: `${unless} also calls nftlb, the daemon of the L4 farms, which serves ${names}. If it has died, the call starts it without their rules: they refuse their clients, and the appliance calls them as before.${hung} No harmless read shows whether it lives.`,
      remedy:
        'Their addresses are tried before and after it, where they can be reached from here. If one refuses then, restart each L4 farm.',
    };
  },
};

/** Returns no farms where they cannot be read: a warning does not stop a call. */
async function readFarmsOrNone({ read }: GuardContext): Promise<readonly Farm[]> {
  try {
    const profiles = profilesIn(await read('readFarmsSummary', {})) ?? new Map<string, string>();
    return [...profiles].map(([name, profile]) => ({ name, profile, state: 'unknown' }));
  } catch (error) {
    if (error instanceof ApplianceError) return [];
    throw error;
  }
}

/** Reads which proxy an HTTP farm has; undefined if that is not to be found out. */
async function readProxy(
  context: GuardContext,
  { name, profile }: Pick<Farm, 'name' | 'profile'>,
): Promise<Proxy | undefined> {
  const farmname = context.params.farmname === undefined ? undefined : safeFarmName(name, profile);
  if (!farmname) return undefined;
  try {
    if ((await calledFarm(context))?.isSilent) return undefined;
    return proxyOf(profile, await context.read('readFarm', { farmname }));
  } catch (error) {
    if (error instanceof ApplianceError) return undefined;
    throw error;
  }
}

/** docs/api.md §4.2. */
const movesRestartFarm: Guard = {
  name: 'moves_restart_farm',
  effect: 'refuses',
  operations: ['moveService'],
  about: 'The move of a service restarts a running farm; a failed start leaves it down.',
  async inspect(context) {
    const farm = await calledFarm(context);
    if (!farm || farm.state === 'down') return undefined;
    return {
      severity: 'blocking',
      message: `To move a service the appliance stops the running farm ${farm.name} and starts it again: its open connections drop, and if the start fails it stays down.`,
      remedy: 'Do it when few are connected; a dry run of the action restart tells whether it would come back.',
    };
  },
};

export const farmGuards: readonly Guard[] = [
  hardRestart,
  restartMayLeaveDown,
  addressInUse,
  reachesL4Daemon,
  stopFarm,
  movesRestartFarm,
];
