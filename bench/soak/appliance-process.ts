import type { Fault } from '../../simulator/faults.ts';
import type { SimulatedRequest } from '../../simulator/request-log.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { byFile, byName, card, createWorld } from '../../simulator/world-creation.ts';
import {
  certificate,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  service,
} from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { answerCalls } from '../worker.ts';

/** A call as an appliance saw it, once it was over. */
export interface SeenCall {
  readonly appliance: string;
  readonly route: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Whether its answer could show the caller that the key is good. */
  readonly authenticated: boolean;
}

export interface ApplianceToStart extends SoakWorld {
  readonly name: string;
  /** The key of root. */
  readonly adminKey: string;
}

export interface StartedAppliance {
  readonly name: string;
  readonly url: string;
  readonly fingerprintSha256: string;
}

interface Running {
  readonly appliance: SimulatedAppliance;
  readonly open: Set<SimulatedRequest>;
  last?: SimulatedRequest | undefined;
}

const running = new Map<string, Running>();

export type ApplianceCalls = typeof calls;

const calls = {
  async start(appliances: readonly ApplianceToStart[]): Promise<readonly StartedAppliance[]> {
    return await Promise.all(
      appliances.map(async ({ name, adminKey, ...world }) => {
        const appliance = await startSimulatedAppliance({ world: soakWorld(world), apiKey: adminKey });
        running.set(name, { appliance, open: new Set() });
        return { name, url: appliance.url, fingerprintSha256: appliance.fingerprintSha256 };
      }),
    );
  },
  fail({ names, route, fault }: { names: readonly string[]; route: string; fault: Fault }): void {
    for (const name of names) running.get(name)?.appliance.fail(route, fault);
  },
  heal({ names }: { names: readonly string[] }): void {
    for (const name of names) running.get(name)?.appliance.heal();
  },
  /** The calls that ended since it was asked for them last. */
  drain(): readonly SeenCall[] {
    return [...running].flatMap(([name, one]) => ended(one).map((request) => seen(name, request)));
  },
};

answerCalls(calls);

function ended(one: Running): (SimulatedRequest & { readonly endedAt: number })[] {
  const { requests } = one.appliance;
  for (const request of requests.slice(one.last ? requests.lastIndexOf(one.last) + 1 : 0)) one.open.add(request);
  one.last = requests.at(-1);
  const over = [...one.open].filter(hasEnded);
  for (const request of over) one.open.delete(request);
  return over;
}

function hasEnded(request: SimulatedRequest): request is SimulatedRequest & { readonly endedAt: number } {
  return request.endedAt !== undefined;
}

function seen(appliance: string, request: SimulatedRequest & { readonly endedAt: number }): SeenCall {
  const { route, startedAt, endedAt } = request;
  return { appliance, route, startedAt, endedAt, authenticated: isAuthenticated(request) };
}

/**
 * Returns true if the key was checked; of the answers of faults, only a refusal in the form of the
 * API shows that.
 */
function isAuthenticated({ status = 0, fault, leftEarly }: SimulatedRequest): boolean {
  if (leftEarly) return false;
  if (fault === undefined || fault === 'slow_body' || fault === 'clock_skew')
    return status === 200 || isRefusal(status);
  return fault === 'status' && isRefusal(status);
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401;
}

/** The world of an appliance of the soak. */
interface SoakWorld {
  readonly farms: number;
  readonly backendsPerFarm: number;
  /** The key of a user who may only read; root has the other one. */
  readonly pollingKey: string;
  /** Secrets that the appliance shows where names and addresses should be. */
  readonly planted: readonly string[];
}

const dayMs = 86_400_000;

/**
 * Every other farm is an L4 one. Nothing changes by itself, so that a series that goes away was
 * lost.
 */
function soakWorld({ farms, backendsPerFarm, pollingKey, planted }: SoakWorld): World {
  const nowMs = Date.now();
  const numbers = Array.from({ length: farms }, (_, number) => number);
  const backends = Array.from({ length: backendsPerFarm }, (_, index) => index);
  return createWorld({
    hostname: 'lb-soak',
    interfaces: byName([card('eth0', '192.0.2.80', 0)]),
    farmguardians: byName([farmguardian('check_tcp', { template: true })]),
    users: byName([
      { name: 'root', key: '', enabled: true, password: '' },
      { name: 'watcher', key: pollingKey, enabled: true, password: '', group: 'watchers' },
    ]),
    groups: byName([{ name: 'watchers', role: {}, farms: ['*'], interfaces: ['*'] }]),
    certificates: byFile([
      certificate('shop_example_com.pem', { notBefore: nowMs - 100 * dayMs, notAfter: nowMs + 265 * dayMs }),
    ]),
    farms: byName([
      ...numbers.map((number) => {
        const place = { name: `farm-${number}`, vip: '192.0.2.80', vport: String(10_000 + number) };
        if (number % 2 === 0)
          return l4Farm({ ...place, backends: backends.map((index) => l4Backend(index, `10.0.0.${index + 1}`, 443)) });
        const main = service('main', {
          backends: backends.map((index) => httpBackend(index, `10.0.1.${index + 1}`, 80)),
        });
        return httpFarm({ ...place, services: [main] });
      }),
      ...planted.map((secret, index) =>
        l4Farm({ name: secret, vip: secret, vport: String(20_000 + index), backends: [l4Backend(0, secret, 443)] }),
      ),
    ]),
  });
}
