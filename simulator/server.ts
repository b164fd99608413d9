import { type ExchangeParts, Exchanges } from './exchange.ts';
import { type FarmListeners, listenAsFarms } from './farm-listeners.ts';
import { sendRequestLines } from './farm-requests.ts';
import { type Fault, FaultTable } from './faults.ts';
import { type Port, startListener } from './listener.ts';
import type { SimulatedRequest } from './request-log.ts';
import { createTlsMaterials, type TlsMaterials } from './tls.ts';
import type { World } from './world.ts';

export interface SimulatedApplianceOptions {
  /** One of simulator/scenes/, or made by a test. */
  readonly world: World;
  /** The key of root. */
  readonly apiKey: string;
  readonly port?: Port;
  /** A function returns the current factor on the time that a real appliance needs for a call. */
  readonly latency?: ExchangeParts['latency'];
  /** Returns milliseconds; the real clock if absent. */
  readonly now?: () => number;
  /** The address of this machine on which running TCP farms listen; true for 127.0.0.1. */
  readonly farmsListen?: boolean | string;
  /** The local address from which it sends the lines of its HTTP farms to its remote syslog. */
  readonly sendLogsFrom?: string | undefined;
  /** Made for this appliance if absent. A thousand appliances should share one. */
  readonly tls?: { readonly expired?: boolean } | TlsMaterials;
}

export interface SimulatedAppliance {
  /** `https://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** The fingerprint of the certificate that it presents now, in lower-case hex. */
  readonly fingerprintSha256: string;
  readonly certificatePem: string;
  /** The live state: the next answer has what a test changes here. */
  readonly world: World;
  /** Undefined unless the farms listen. */
  readonly farms: FarmListeners | undefined;
  /** The newest 20,000, oldest first. */
  readonly requests: readonly SimulatedRequest[];
  /** Makes the calls of a route fail, or all calls with `*`, for `times` calls or until `heal`. */
  fail(route: string, fault: Fault, options?: { readonly times?: number }): void;
  heal(route?: string): void;
  readonly inFlight: number;
  /** How many requests in flight wait for their latency or hang. */
  readonly sleeping: number;
  /** Closes at once, also requests that hang. */
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** Any other path is answered by the web server's 404 page. */
const basePathsOf = {
  newest: ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'],
  older: ['/zapi/v4.0/zapi.cgi'],
} as const;

/** Starts an HTTPS server that behaves as a real appliance in the state of `world`. */
export async function startSimulatedAppliance(options: SimulatedApplianceOptions): Promise<SimulatedAppliance> {
  const { world, apiKey, port = 0, latency = 'none', now = Date.now, tls } = options;
  const basePaths = basePathsOf[world.release];
  const materials = tls && 'usual' in tls ? tls : createTlsMaterials(tls);
  const faults = new FaultTable();
  const { farmsListen = false } = options;
  const farms =
    farmsListen === false ? undefined : await listenAsFarms(world, farmsListen === true ? host : farmsListen);
  const { sendLogsFrom: from } = options;
  const exchanges = new Exchanges({ world, basePaths, faults, latency, now, afterCall: farms?.follow });
  const root = world.users.get('root');
  if (root) root.key = apiKey;

  const listener = await startListener({
    host,
    port,
    material: materials.usual,
    // An answer is interrupted when its connection ends; then no client is left to inform.
    onRequest: (request, response) => void exchanges.serve(request, response).catch(() => response.destroy()),
  });

  const endLogs = from === undefined ? undefined : sendRequestLines(world, { from, now });

  const presented = () => (faults.has('expired_tls') ? materials.expired : materials.usual);
  function applyToListener(): void {
    listener.present(presented());
    listener.accept(!faults.has('refuse'));
  }

  return {
    url: `https://${host}:${listener.port}`,
    get fingerprintSha256() {
      return presented().fingerprintSha256;
    },
    certificatePem: materials.usual.cert,
    world,
    farms,
    requests: exchanges.log.requests,
    fail(route, fault, { times = Number.POSITIVE_INFINITY } = {}) {
      faults.set(route, fault, times);
      applyToListener();
    },
    heal(route) {
      faults.clear(route);
      applyToListener();
    },
    get inFlight() {
      return exchanges.log.inFlight;
    },
    get sleeping() {
      return exchanges.sleeping;
    },
    async close() {
      endLogs?.();
      await Promise.all([listener.close(), farms?.close()]);
    },
  };
}
