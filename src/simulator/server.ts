import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { sleep } from '../lib/sleep.ts';
import { createApi } from './api.ts';
import { deliver } from './deliver.ts';
import { createFaultTable, type Fault, substitute, withWrongTypes } from './faults.ts';
import { latencyMs } from './latency.ts';
import { startListener } from './listener.ts';
import type { Reply } from './reply.ts';
import { createRequestLog, type SimulatedRequest } from './request-log.ts';
import { type Destination, destinationOf } from './request-path.ts';
import { dress } from './respond.ts';
import { createTlsMaterials, type TlsMaterials } from './tls.ts';
import type { World } from './world.ts';

export interface SimulatedApplianceOptions {
  /** From scenarios.ts, or built by a test. */
  readonly world: World;
  /** The key of root. */
  readonly apiKey: string;
  readonly host?: string;
  readonly port?: number;
  /** A function says how many times as long as on a real one each call takes at the moment. */
  readonly latency?: 'none' | 'realistic' | (() => number);
  /** Milliseconds; the real clock unless a test brings its own. */
  readonly now?: () => number;
  /** Any other path is answered by the web server's 404 page. */
  readonly basePaths?: readonly string[];
  /** Made for this appliance alone unless they are given; a thousand appliances are better off sharing them. */
  readonly tls?: { readonly expired?: boolean } | TlsMaterials;
}

export interface SimulatedAppliance {
  /** `https://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
  readonly certificatePem: string;
  /** The live state: what a test changes here shows in the next answer. */
  readonly world: World;
  /** The newest 20,000, oldest first. */
  readonly requests: readonly SimulatedRequest[];
  /** Makes the calls of a route, or of all with `*`, fail until healed or until `times` are used up. */
  fail(route: string, fault: Fault, options?: { readonly times?: number }): void;
  heal(route?: string): void;
  readonly inFlight: number;
  /** How many of those in flight wait for their latency or hang. */
  readonly sleeping: number;
  /** Ends at once, requests that hang included. */
  close(): Promise<void>;
}

const basePathsOf = {
  newest: ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'],
  older: ['/zapi/v4.0/zapi.cgi'],
} as const;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly destination: Destination;
  readonly route: string;
  readonly fault: Fault | undefined;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
}

/** Starts an HTTPS server that behaves as a real appliance in the state of `world`. */
export async function startSimulatedAppliance(options: SimulatedApplianceOptions): Promise<SimulatedAppliance> {
  const { world, apiKey, host = '127.0.0.1', latency = 'none', now = Date.now } = options;
  const basePaths = options.basePaths ?? basePathsOf[world.release];
  const { tls } = options;
  const materials = tls && 'usual' in tls ? tls : await createTlsMaterials(tls);
  const faults = createFaultTable();
  const api = createApi(world);
  const log = createRequestLog();
  let sleeping = 0;
  let calls = 0;

  const root = world.users.get('root');
  if (root) root.key = apiKey;

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    sleeping += 1;
    try {
      await sleep(ms, signal);
    } finally {
      sleeping -= 1;
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const destination = destinationOf(request.url ?? '/', basePaths);
    const path = destination.to === 'api' ? destination.path : (request.url ?? '/');
    const route = destination.to === 'api' ? api.routeOf(method, path) : `${method} ${path}`;
    const fault = faults.take(route);
    const entry = log.begin({ method, path, route, startedAt: now(), ...(fault && { fault: fault.kind }) });
    const left = new AbortController();
    response.once('close', () => left.abort());
    try {
      await answer(request, response, { method, path, destination, route, fault, signal: left.signal });
    } finally {
      // Before the bytes can reach the client, so that whoever has an answer finds it logged.
      log.end(entry, {
        endedAt: now(),
        ...(response.headersSent && { status: response.statusCode }),
        ...(left.signal.aborted && { leftEarly: true }),
      });
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<void> {
    const { method, path, destination, route, fault, signal } = asked;
    const content = await buffer(request);
    if (fault?.kind === 'hang') return pause(2_147_483_647, signal);
    calls += 1;
    if (latency !== 'none' && destination.to === 'api')
      await pause(latencyMs(world, route, calls) * (latency === 'realistic' ? 1 : latency()), signal);

    const nowMs = now() + (fault?.kind === 'clock_skew' ? fault.seconds * 1_000 : 0);
    const reply = substitute(fault, world) ?? replyTo();
    const damaged =
      fault?.kind === 'wrong_types' && reply.kind === 'json' ? { ...reply, value: withWrongTypes(reply.value) } : reply;
    const gzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    await deliver(response, dress(damaged, { release: world.release, nowMs, gzip }), fault, signal);

    function replyTo(): Reply {
      if (needsLength(request)) return { kind: 'page', status: 411 };
      if (destination.to === 'web_server') return { kind: 'page', status: 404 };
      return api.answer({ method, headers: request.headers, path, shown: destination.shown, content, nowMs });
    }
  }

  const listener = await startListener({
    host,
    port: options.port ?? 0,
    material: materials.usual,
    // An answer is interrupted when its connection ends, which leaves nobody to tell.
    onRequest: (request, response) => void serve(request, response).catch(() => response.destroy()),
  });

  function applyToListener(): void {
    listener.present(faults.has('expired_tls') ? materials.expired : materials.usual);
    listener.accept(!faults.has('refuse'));
  }

  return {
    url: `https://${host}:${listener.port}`,
    fingerprintSha256: materials.usual.fingerprintSha256,
    certificatePem: materials.usual.cert,
    world,
    requests: log.requests,
    fail(route, fault, { times = Number.POSITIVE_INFINITY } = {}) {
      faults.set(route, fault, times);
      applyToListener();
    },
    heal(route) {
      faults.clear(route);
      applyToListener();
    },
    get inFlight() {
      return log.inFlight;
    },
    get sleeping() {
      return sleeping;
    },
    close: () => listener.close(),
  };
}

/** The web server insists on a length for every verb it thinks carries a body (recorded). */
function needsLength({ method = '', headers }: IncomingMessage): boolean {
  const bodiless = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'].includes(method);
  return !bodiless && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}
