import { createServer } from 'node:http';
import type { DemonstrationAppliance } from './demo.ts';
import type { Fault } from './faults.ts';
import { decodePercent } from '../src/lib/text.ts';
import { endHang } from './hung-proxy.ts';
import { hangL4Daemon, killL4Daemon, restoreL4Farms, startL4Daemon } from './l4-daemon.ts';
import { listen, type Port } from './listener.ts';
import type { HttpBackend, HttpFarm } from './world-farms.ts';
import type { World } from './world.ts';

interface NamedFault {
  /** The behaviour of the appliance, in a few words. */
  readonly about: string;
  /** The fault of all its calls. */
  readonly fault?: Fault;
  /** The fault of its L4 daemon. */
  readonly ofDaemon?: (world: World) => void;
  /** Begins or ends the fault of an HTTP farm. */
  readonly ofFarm?: (farm: HttpFarm, isOn: boolean) => void;
}

/** The faults that a person can cause, by name. */
const namedFaults: Readonly<Record<string, NamedFault>> = {
  refused: { about: 'its port is closed', fault: { kind: 'refuse' } },
  hanging: { about: 'it accepts calls, and answers none', fault: { kind: 'hang' } },
  slow: { about: 'its answers come with 500 bytes a second', fault: { kind: 'slow_body', bytesPerSecond: 500 } },
  'broken-answers': { about: 'its answers stop in the middle', fault: { kind: 'truncated' } },
  'key-refused': {
    about: 'it refuses the API key',
    fault: { kind: 'status', status: 401, body: { message: 'Authorization required' } },
  },
  'expired-certificate': {
    about: 'its own certificate has expired; a pin of the one before does not fit it',
    fault: { kind: 'expired_tls' },
  },
  'wrong-clock': { about: 'its clock is 15 minutes ahead', fault: { kind: 'clock_skew', seconds: 900 } },
  'l4-daemon-dead': {
    about: 'its L4 daemon crashed; its farms are served until something starts it',
    ofDaemon: (world) => killL4Daemon(world, { pidFileStays: true }),
  },
  'l4-daemon-hung': { about: 'its L4 daemon hangs: reads that ask it never end', ofDaemon: hangL4Daemon },
  'l4-daemon-restarted': { about: 'its L4 daemon started again without its farms', ofDaemon: startL4Daemon },
  'hung-proxy': {
    about: 'the proxy of a farm hangs',
    ofFarm: (farm, isOn) => {
      if (isOn) farm.runState = 'hung';
      else endHang(farm);
    },
  },
  'dead-proxy': {
    about: 'the proxy of a farm died; the farm is down until it is started',
    ofFarm: (farm, isOn) => {
      farm.running = !isOn;
    },
  },
  'backends-down': {
    about: 'all backends of a farm are down',
    ofFarm: (farm, isOn) => {
      for (const each of farm.services.flatMap(({ backends }) => backends)) (isOn ? takeDown : recover)(each);
    },
  },
};

function takeDown(backend: HttpBackend): void {
  backend.statusAfter ??= backend.status;
  backend.status = 'down';
}

function recover(backend: HttpBackend): void {
  backend.status = backend.statusAfter ?? backend.status;
  backend.statusAfter = undefined;
}

/** A fault that cannot be caused; the message says which ones can. */
export class UnknownFaultError extends Error {
  override readonly name = 'UnknownFaultError';
}

/**
 * Begins or ends a fault, written as `APPLIANCE/FAULT` or `APPLIANCE/FAULT/FARM`. An appliance has
 * one fault of its calls at a time. Throws an UnknownFaultError.
 */
async function switchFault(appliances: readonly DemonstrationAppliance[], words: string, isOn: boolean): Promise<void> {
  const [name, fault = '', farmName = ''] = words.split('/');
  const { appliance } = appliances.find((each) => each.name === name) ?? {};
  const known = Object.hasOwn(namedFaults, fault) ? namedFaults[fault] : undefined;
  const farm = appliance?.world.farms.get(farmName);
  if (!appliance || !known || (known.ofFarm !== undefined) !== (farmName !== ''))
    throw new UnknownFaultError(`'${words}' is not a fault; they are:\n${faultList(appliances)}`);
  if (known.fault) {
    if (isOn) appliance.fail('*', known.fault);
    else appliance.heal('*');
    return;
  }
  if (known.ofDaemon) {
    (isOn ? known.ofDaemon : restoreL4Farms)(appliance.world);
    await appliance.farms?.follow();
    return;
  }
  if (farm?.profile !== 'http')
    throw new UnknownFaultError(
      `${name} has no HTTP farm '${farmName}'; it has ${httpFarms(appliance.world).join(', ')}`,
    );
  known.ofFarm?.(farm, isOn);
  await appliance.farms?.follow();
}

/** Begins faults, separated by commas. Rejects with an UnknownFaultError. */
export async function beginFaults(appliances: readonly DemonstrationAppliance[], list: string): Promise<void> {
  for (const words of list.split(',').filter(Boolean)) await switchFault(appliances, words.trim(), true);
}

/** Returns every fault that an appliance can have, as it is typed. */
export function faultWords(name: string, world: World): readonly string[] {
  return Object.entries(namedFaults).flatMap(([fault, { ofFarm }]) =>
    (ofFarm ? httpFarms(world) : ['']).map((farm) => [name, fault, farm].filter(Boolean).join('/')),
  );
}

function httpFarms(world: World): readonly string[] {
  return [...world.farms.values()].filter(({ profile }) => profile === 'http').map(({ name }) => name);
}

function faultList(appliances: readonly DemonstrationAppliance[]): string {
  const rows = Object.entries(namedFaults).map(([name, fault]) => {
    const words = `APPLIANCE/${name}${fault.ofFarm ? '/FARM' : ''}`;
    return `  ${words.padEnd(32)}${fault.about}`;
  });
  return [...rows, `Appliances: ${appliances.map(({ name }) => name).join(', ')}`, ''].join('\n');
}

export interface FaultSwitch {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens on 127.0.0.1 for `PUT /APPLIANCE/FAULT`, which begins a fault, and DELETE, which ends it;
 * GET lists them. Web pages cannot send these two without being asked first, which is refused.
 */
export async function startFaultSwitch(
  appliances: readonly DemonstrationAppliance[],
  port: Port = 0,
): Promise<FaultSwitch> {
  const server = createServer((request, response) => {
    const { method = '', url = '/' } = request;
    const answer = (status: number, text: string): void => void response.writeHead(status).end(text);
    if (method !== 'PUT' && method !== 'DELETE') return answer(200, faultList(appliances));
    const words = decodePercent(url.slice(1)) ?? '';
    switchFault(appliances, words, method === 'PUT').then(
      () => answer(200, `${words} ${method === 'PUT' ? 'has begun' : 'has ended'}\n`),
      (error: unknown) =>
        error instanceof UnknownFaultError ? answer(404, error.message) : response.destroy(error as Error),
    );
  });
  const listening = await listen(server, '127.0.0.1', port);
  return { url: `http://127.0.0.1:${listening.port}`, close: listening.close };
}
