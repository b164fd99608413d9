import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { createCertificate } from './certificate.ts';
import { listen } from './listener.ts';
import type { Farm } from './world-farms.ts';
import type { World } from './world.ts';
import type { StoredCertificate } from './world-certificates.ts';

/** The running TCP farms of a simulated appliance, which listen on ports of 127.0.0.1. */
export interface FarmListeners {
  /** Listeners by `VIP:VPORT`; the port of a farm stays the same. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Starts, stops and restarts listeners as the farms were; a farm presents what it has loaded. */
  readonly follow: () => Promise<void>;
  /** Ends the listener of a running farm until its next start, as of a process that hangs. */
  readonly hang: (farm: string) => Promise<void>;
  close(): Promise<void>;
}

/** A farm that listens. */
interface Listening {
  /** The certificates that it presents. */
  readonly loaded: readonly StoredCertificate[];
  readonly close: () => Promise<void>;
}

interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** Opens a listener for each running HTTP, HTTPS and L4 TCP farm. */
export async function listenAsFarms(world: World): Promise<FarmListeners> {
  const listening = new Map<string, Listening>();
  const hanging = new Map<string, Listening['loaded']>();
  const ports = new Map<string, number>();
  const keyPairs = new WeakMap<StoredCertificate, KeyPair>();
  let last: Promise<void> = Promise.resolve();

  function keyPairOf(stored: StoredCertificate): KeyPair {
    const keyPair = keyPairs.get(stored) ?? makeKeyPair(stored);
    keyPairs.set(stored, keyPair);
    return keyPair;
  }

  async function start(farm: Farm, loaded: readonly StoredCertificate[]): Promise<void> {
    const server = serverOf(farm, loaded, keyPairOf);
    const { port, close } = await listen(server, '127.0.0.1', ports.get(farm.name) ?? 0);
    ports.set(farm.name, port);
    listening.set(farm.name, { loaded, close });
  }

  async function stop(name: string): Promise<void> {
    const { close } = listening.get(name) ?? {};
    listening.delete(name);
    await close?.();
  }

  async function follow(): Promise<void> {
    const running = new Map([...world.farms.values()].filter(isListener).map((farm) => [farm.name, farm]));
    for (const name of listening.keys()) if (!running.has(name)) await stop(name);
    for (const [name, farm] of running) {
      const loaded = loadedBy(farm, world);
      if (listening.get(name)?.loaded === loaded || hanging.get(name) === loaded) continue;
      hanging.delete(name);
      await stop(name);
      await start(farm, loaded);
    }
  }

  /** Follows one change after the other. */
  function followNext(): Promise<void> {
    last = last.then(follow);
    return last;
  }

  await followNext();
  return {
    get addresses() {
      const farms = [...world.farms.values()].filter(({ name }) => ports.has(name));
      return Object.fromEntries(
        farms.map(({ name, vip, vport }) => [`${vip}:${vport}`, `127.0.0.1:${ports.get(name)}`]),
      );
    },
    follow: followNext,
    async hang(name) {
      await last;
      const { loaded } = listening.get(name) ?? {};
      if (loaded) hanging.set(name, loaded);
      await stop(name);
    },
    async close() {
      await last;
      for (const name of listening.keys()) await stop(name);
    },
  };
}

const noCertificates: readonly StoredCertificate[] = [];

function isListener(farm: Farm): boolean {
  const isTcp = farm.profile === 'http' || (farm.profile === 'l4xnat' && farm.protocol === 'tcp');
  return farm.running && isTcp && /^\d+$/.test(farm.vport);
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
  loaded: readonly StoredCertificate[],
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
