import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { createCertificate } from './certificate.ts';
import { listen } from './listener.ts';
import type { Farm } from './world-farms.ts';
import type { World } from './world.ts';
import type { StoredCertificate } from './world-certificates.ts';

/** The running TCP farms of a simulated appliance, which listen on one address of this machine. */
export interface FarmListeners {
  /**
   * The places to which clients are led: a port for each `VIP:VPORT` that had a TCP farm at the
   * start, running or not, and one for each VIP, which farms at other ports share.
   */
  readonly addresses: Readonly<Record<string, string>>;
  /** Starts, stops and restarts listeners as the farms were; a farm presents what it has loaded. */
  readonly follow: () => Promise<void>;
  close(): Promise<void>;
}

/** A farm that listens. */
interface Listening {
  /** One of `addresses`. */
  readonly address: string;
  /** The certificates that it presents. */
  readonly loaded: readonly StoredCertificate[];
  /** True if it accepts connections and answers none, as the kernel does for a stopped proxy. */
  readonly isHung: boolean;
  readonly close: () => Promise<void>;
}

interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** Opens a listener for each running HTTP, HTTPS and L4 TCP farm on an address of this machine. */
export async function listenAsFarms(world: World, host = '127.0.0.1'): Promise<FarmListeners> {
  const listening = new Map<string, Listening>();
  const keyPairs = new WeakMap<StoredCertificate, KeyPair>();
  const held = await holdPorts([...world.farms.values()].filter(isTcp), host);
  const { ports } = held;
  let last: Promise<void> = Promise.resolve();

  function keyPairOf(stored: StoredCertificate): KeyPair {
    const keyPair = keyPairs.get(stored) ?? makeKeyPair(stored);
    keyPairs.set(stored, keyPair);
    return keyPair;
  }

  function wantedOf(farm: Farm | undefined): Omit<Listening, 'close'> | undefined {
    if (!farm?.running || !isTcp(farm) || ('hasNoRules' in farm && farm.hasNoRules)) return undefined;
    const address = [exactAddress(farm), farm.vip].find((each) => ports.has(each));
    return address === undefined
      ? undefined
      : { address, loaded: loadedBy(farm, world), isHung: farm.runState === 'hung' };
  }

  async function stop(name: string): Promise<void> {
    const { close } = listening.get(name) ?? {};
    listening.delete(name);
    await close?.();
  }

  async function follow(): Promise<void> {
    for (const [name, { address, loaded, isHung }] of listening) {
      const wanted = wantedOf(world.farms.get(name));
      if (wanted?.address !== address || wanted.loaded !== loaded || wanted.isHung !== isHung) await stop(name);
    }
    for (const farm of world.farms.values()) {
      const wanted = wantedOf(farm);
      const inUse = [...listening].some(([name, { address }]) => name === farm.name || address === wanted?.address);
      if (!wanted || inUse) continue;
      const server = wanted.isHung ? createTcpServer({ pauseOnConnect: true }) : serverOf(farm, wanted, keyPairOf);
      await held.release(wanted.address);
      const { close } = await listen(server, host, ports.get(wanted.address) ?? 0);
      listening.set(farm.name, { ...wanted, close });
    }
  }

  /** Follows one change after the other. */
  function followNext(): Promise<void> {
    last = last.then(follow);
    return last;
  }

  await followNext();
  for (const address of ports.keys()) await held.release(address);
  return {
    addresses: Object.fromEntries([...ports].map(([address, port]) => [address, `${host}:${port}`])),
    follow: followNext,
    async close() {
      await last;
      for (const name of listening.keys()) await stop(name);
    },
  };
}

/**
 * Listens on a free port for each address and each VIP of farms. `release` closes one of them, at
 * the last moment: another process could take a port that is free.
 */
async function holdPorts(farms: readonly Farm[], host: string) {
  const ports = new Map<string, number>();
  const holders = new Map<string, () => Promise<void>>();
  for (const address of new Set(farms.flatMap((farm) => [exactAddress(farm), farm.vip]))) {
    const { port, close } = await listen(createTcpServer(), host, 0);
    ports.set(address, port);
    holders.set(address, close);
  }
  return {
    ports: ports as ReadonlyMap<string, number>,
    async release(address: string): Promise<void> {
      await holders.get(address)?.();
      holders.delete(address);
    },
  };
}

/** Returns the address by the first port of the farm, which is the one that is probed. */
function exactAddress({ vip, vport }: Farm): string {
  return `${vip}:${Number.parseInt(vport, 10)}`;
}

const noCertificates: readonly StoredCertificate[] = [];

function isTcp(farm: Farm): boolean {
  return (farm.profile === 'http' || (farm.profile === 'l4xnat' && farm.protocol === 'tcp')) && /^\d/.test(farm.vport);
}

/**
 * Loads the certificates of the store at the first start; a later start is an action of the API.
 */
function loadedBy(farm: Farm, world: World): readonly StoredCertificate[] {
  if (farm.profile !== 'http' || farm.listener !== 'https') return noCertificates;
  farm.loaded ??= farm.certificates.flatMap((file) => world.certificates.get(file) ?? []);
  return farm.loaded;
}

function serverOf(
  { name, profile }: Farm,
  { loaded }: Pick<Listening, 'loaded'>,
  keyPairOf: (stored: StoredCertificate) => KeyPair,
): Server {
  if (profile !== 'http') return createTcpServer((socket) => socket.end());
  const answer = (_: unknown, response: { end(text: string): void }): void => response.end(`The farm ${name}.\n`);
  const [first] = loaded;
  if (!first) return createHttpServer(answer);
  const server = createHttpsServer(keyPairOf(first), answer);
  for (const stored of loaded) server.addContext(stored.commonName, keyPairOf(stored));
  return server;
}

/** Returns the pair of an uploaded file; makes one with the same name and dates for the others. */
function makeKeyPair({ pem, commonName, notBefore = 0, notAfter = 0 }: StoredCertificate): KeyPair {
  if (pem.includes('BEGIN CERTIFICATE') && pem.includes('PRIVATE KEY')) return { key: pem, cert: pem };
  return createCertificate({
    subject: { CN: commonName },
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    altNames: [`DNS:${commonName}`],
  });
}
