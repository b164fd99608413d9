import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { sleep } from '../src/lib/time.ts';
import { type Api, createApi } from './api.ts';
import type { Reply } from './call.ts';
import { type Fault, type FaultTable, substitute } from './faults.ts';
import { hungProxyWaitMs, leaveProcess, webServerLimitMs } from './hung-proxy.ts';
import { actOnL4Daemon } from './l4-daemon.ts';
import { RequestLog } from './request-log.ts';
import { deliver, dress } from './response.ts';
import type { World } from './world.ts';

export interface ExchangeParts {
  readonly world: World;
  readonly basePaths: readonly string[];
  readonly faults: FaultTable;
  readonly latency: 'none' | 'realistic' | (() => number);
  readonly now: () => number;
  /** Called after a call has changed the world, before its answer leaves. */
  readonly afterCall?: (() => Promise<void>) | undefined;
}

interface ReadRequest {
  readonly method: string;
  /** The target as it came, for what is not addressed to the API. */
  readonly path: string;
  readonly destination: Destination | undefined;
  readonly route: string;
  readonly fault: Fault | undefined;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
}

/** Longer than any test or client waits; the maximum of a Node.js timer. */
const foreverMs = 2_147_483_647;

/** Answers and logs the requests of one simulated appliance. */
export class Exchanges {
  readonly log = new RequestLog();
  readonly #parts: ExchangeParts;
  readonly #api: Api;
  #sleeping = 0;
  #calls = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#api = createApi(parts.world);
  }

  /** The number of requests that wait for their latency or hang. */
  get sleeping(): number {
    return this.#sleeping;
  }

  /** Serves one request. Rejects when the connection ends before the answer is sent. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { basePaths, faults, now } = this.#parts;
    const method = request.method ?? 'GET';
    const destination = destinationOf(request.url ?? '/', basePaths);
    const path = destination?.path ?? request.url ?? '/';
    const route = destination ? this.#api.routeOf(method, path) : `${method} ${path}`;
    const fault = faults.take(route);
    const entry = this.log.begin({ method, path, route, startedAt: now(), ...(fault && { fault: fault.kind }) });
    const left = new AbortController();
    response.once('close', () => left.abort());
    try {
      await this.#answer(request, response, { method, path, destination, route, fault, signal: left.signal });
    } finally {
      // Before the bytes can reach the client, so that a client that has an answer finds it logged.
      this.log.end(entry, { endedAt: now(), ...(response.headersSent && { status: response.statusCode }) });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, asked: ReadRequest): Promise<void> {
    const { fault, signal } = asked;
    const { world, now } = this.#parts;
    const content = await buffer(request);
    if (fault?.kind === 'hang') return this.#pause(foreverMs, signal);
    const isEnded = await this.#takeTime(asked, request.headers);

    const nowMs = now() + (fault?.kind === 'clock_skew' ? fault.seconds * 1_000 : 0);
    const instead: Reply | undefined = isEnded ? { kind: 'page', status: 504 } : substitute(fault, world);
    const reply = instead ?? this.#replyTo(request, asked, content, nowMs);
    await this.#parts.afterCall?.();
    if (reply.kind === 'page' && reply.afterMs !== undefined) await this.#pause(reply.afterMs, signal);
    const gzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    await deliver(response, dress(reply, { release: world.release, nowMs, gzip }), fault, signal);
  }

  #replyTo(request: IncomingMessage, asked: ReadRequest, content: Buffer, nowMs: number): Reply {
    const { method, path, destination } = asked;
    if (needsLength(request)) return { kind: 'page', status: 411 };
    if (!destination) return { kind: 'page', status: 404 };
    return this.#api.answer({ method, headers: request.headers, path, shown: destination.shown, content, nowMs });
  }

  /**
   * Waits as long as a real appliance would need for the call. Resolves to true if its web server
   * ended the request meanwhile.
   */
  async #takeTime({ method, destination, route, signal }: ReadRequest, headers: IncomingHttpHeaders): Promise<boolean> {
    const { world, latency, now } = this.#parts;
    this.#calls += 1;
    if (!destination) return false;
    const { path } = destination;
    // A call that is refused asks neither a proxy nor the daemon.
    const isAllowed = this.#api.refusal({ method, headers, path, nowMs: now() }) === undefined;
    const waitMs = isAllowed ? this.#waitOf(world, route, path) : 0;
    if (waitMs > 0) await this.#pause(Math.min(waitMs, webServerLimitMs), signal);
    if (waitMs >= webServerLimitMs) return true;
    if (latency === 'none') return false;
    const factor = latency === 'realistic' ? 1 : latency();
    await this.#pause(latencyMs(world, route, this.#calls) * factor, signal);
    return false;
  }

  /** Does what a read of a farm does beside its answer; returns how long it waits for a proxy or the daemon. */
  #waitOf(world: World, route: string, path: string): number {
    if (actOnL4Daemon(world, route, path)) return webServerLimitMs;
    const waitMs = hungProxyWaitMs(world, route, path);
    if (waitMs >= webServerLimitMs) leaveProcess(world, path);
    return waitMs;
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    this.#sleeping += 1;
    try {
      await sleep(ms, signal);
    } finally {
      this.#sleeping -= 1;
    }
  }
}

/** The web server requires a length for every verb that can carry a body (recorded). */
function needsLength({ method = '', headers }: IncomingMessage): boolean {
  const bodiless = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'].includes(method);
  return !bodiless && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

/** Seconds that each call took on a real appliance (test/recorded); `usual` for the others. */
const measured: Readonly<Record<string, number>> = {
  'GET /stats': 1.05,
  'GET /farms/modules/summary': 0.055,
  'GET /farms/{farmname}': 0.07,
  'GET /certificates': 0.095,
  'GET /certificates/{file}/info': 0.076,
  'GET /stats/farms/{farmname}': 0.16,
  'GET /certificates/activation/info': 0.25,
  'POST /farms': 0.3,
  'PUT /farms/{farmname}/actions': 2.5,
  'POST /system/snmp': 1.06,
};
const usual = 0.052;
/** The same of the lists that ask for each farm: 0.04 s, and this for each. */
const measuredPerFarm: Readonly<Record<string, number>> = { 'GET /farms': 0.0065, 'GET /stats/farms': 0.03 };

/**
 * Returns the milliseconds of a call. Its jitter of ±15 % depends only on the number of calls
 * before it.
 */
function latencyMs(world: World, route: string, callNumber: number): number {
  const isSlowAction = world.proxy === 'zproxy' && route === 'PUT /farms/{farmname}/actions';
  const perFarm = measuredPerFarm[route];
  const ofRoute = isSlowAction ? 5 : (measured[route] ?? usual);
  const seconds = perFarm === undefined ? ofRoute : 0.04 + perFarm * world.farms.size;
  const jitter = 0.85 + 0.3 * (((callNumber * 2_654_435_761) % 4_294_967_296) / 4_294_967_296);
  return Math.round(seconds * jitter * 1_000);
}

/** The call that a request is for. */
interface Destination {
  /** The path as the API prints it: decoded, with bytes beyond ASCII read as latin-1. */
  readonly shown: string;
  /**
   * The path for the route matcher: percent-encoded again, without one trailing line feed, which
   * the API ignores.
   */
  readonly path: string;
}

/**
 * Resolves a request target as the appliance's web server does before the API sees it. Undefined:
 * it is not for the API.
 */
function destinationOf(target: string, basePaths: readonly string[]): Destination | undefined {
  const resolved = resolveDots(decodeBytes(target.replace(/[?#].*$/s, '')));
  const base = basePaths.find((path) => resolved === path || resolved.startsWith(`${path}/`));
  if (base === undefined) return undefined;

  // Recorded: `api.cgi//farms` answers like `api.cgi/farms`, while a doubled slash further on is
  // another path.
  const rest = resolved.slice(base.length).replace(/^\/\//, '/');
  const path = rest
    .replace(/\n$/, '')
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/');
  return { shown: rest.replaceAll('\0', ' '), path };
}

function decodeBytes(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function resolveDots(path: string): string {
  if (!path.includes('/..')) return path;
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else kept.push(segment);
  }
  return `/${kept.filter((segment) => segment !== '').join('/')}`;
}
