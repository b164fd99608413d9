import type { Fault } from '../../src/simulator/faults.ts';
import type { SimulatedRequest } from '../../src/simulator/request-log.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../src/simulator/server.ts';
import { soakWorld, type SoakWorld } from './soak-world.ts';
import { answerCalls } from './worker.ts';

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
  /** Of root. */
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

/** Of the answers that faults make, only a refusal in the API's own form says that somebody looked at the key. */
function isAuthenticated({ status = 0, fault, leftEarly }: SimulatedRequest): boolean {
  if (leftEarly) return false;
  if (fault === undefined || fault === 'slow_body' || fault === 'clock_skew')
    return status === 200 || isRefusal(status);
  return fault === 'status' && isRefusal(status);
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401;
}
