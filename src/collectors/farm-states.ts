import { ApplianceError } from '../appliance/errors.ts';
import { type CollectContext, type FarmFact, stateWord } from './collector.ts';

/** When a farm was last asked for alone, on the clock of ages. */
export interface AskedFarm {
  readonly atMs: number;
  /** When the appliance was last given the time to wait for its proxy until it gives up. */
  readonly awaitedAtMs?: number | undefined;
}

type Farm = FarmFact & { readonly asked?: AskedFarm | undefined };

/** The appliance waits 20 s for a proxy that hangs, and then has a word for it. */
const patientMs = 30_000;
/** The least time limit for a proxy that does not hang. */
const briefMs = 3_000;
/** A call that takes longer has waited for a proxy, unless all calls take long. */
export const hungMs = 15_000;
/** The work of a call; beyond it the appliance only waits. */
const workMs = 1_000;
/** A state is asked for again after this time: with every second run of the schedule. */
const recentMs = 45_000;
/** The time between two calls for farms that are silent. */
const silentEveryMs = 90_000;
/** The time between two patient calls, for each silent farm; a twentieth of it is waiting. */
const patienceEveryMs = 400_000;
const neverMs = Number.NEGATIVE_INFINITY;

/**
 * Reads the state of each farm with a call of its own, so that a proxy that hangs costs its own
 * farm only. `callMs` is how long a call takes that asks no proxy. Silent farms are asked after all
 * others, one a run; until then they keep the last word of the appliance.
 */
export async function askEachFarm<Listed extends Farm>(
  context: CollectContext,
  listed: readonly Listed[],
  { before, callMs }: { readonly before: readonly Farm[]; readonly callMs: number },
): Promise<readonly Listed[]> {
  const known = new Map(before.map((farm) => [farm.name, farm]));
  const limitMs = Math.min(Math.max(4 * callMs, briefMs), patientMs);
  const isRecent = (was: Farm | undefined): boolean =>
    was?.asked !== undefined && context.age() - was.asked.atMs < recentMs;
  const isDue = (farm: Listed): boolean => {
    const was = known.get(farm.name);
    return hasProxy(farm) && farm.state !== 'down' && !was?.isSilent && !isRecent(was);
  };
  const silent = before.filter(({ isSilent }) => isSilent).toSorted((one, other) => askedAt(one) - askedAt(other));
  const lastAskedMs = Math.max(neverMs, ...silent.map(askedAt));
  const next =
    context.age() - lastAskedMs < silentEveryMs ? undefined : listed.find(({ name }) => name === silent[0]?.name);
  const awaitedAtMs = silent[0]?.asked?.awaitedAtMs ?? neverMs;
  const isPatient = context.age() - awaitedAtMs > silent.length * patienceEveryMs;

  const result: (Listed | undefined)[] = [];
  for (const farm of listed.filter((each) => each !== next)) {
    const was = known.get(farm.name);
    result.push(isDue(farm) ? await askState(context, farm, { was, limitMs, callMs }) : asBefore(farm, was));
  }
  if (next)
    result.push(await askState(context, next, { was: silent[0], limitMs: isPatient ? patientMs : limitMs, callMs }));
  return result.filter((farm) => farm !== undefined);
}

/** Returns true for a farm whose state the appliance asks a proxy for. */
export function hasProxy({ profile }: FarmFact): boolean {
  return ['http', 'https', 'eproxy'].includes(profile);
}

/** Returns the farm with its state; undefined if it is gone. */
async function askState<Listed extends Farm>(
  { read, age }: CollectContext,
  farm: Listed,
  { was, limitMs, callMs }: { readonly was: Farm | undefined; readonly limitMs: number; readonly callMs: number },
): Promise<Listed | undefined> {
  const asked: AskedFarm = { atMs: age(), awaitedAtMs: limitMs === patientMs ? age() : was?.asked?.awaitedAtMs };
  let tookMs = 0;
  const took = (ms: number): void => {
    tookMs = ms;
  };
  try {
    const { params } = await read('readFarmStatus', { farmname: farm.name }, { limitMs, workMs, took });
    return { ...farm, state: stateWord(params.status), isSilent: tookMs >= Math.max(hungMs, 2 * callMs), asked };
  } catch (error) {
    if (!(error instanceof ApplianceError)) throw error;
    if (error.reason === 'timeout')
      return { ...asBefore(farm, was?.isSilent ? was : undefined), isSilent: true, asked };
    if (error.reason === 'not_found' || error.reason === 'bad_request') return undefined;
    throw error;
  }
}

/** Returns a farm with a proxy that was not asked, as it was before. */
function asBefore<Listed extends Farm>(farm: Listed, was: Farm | undefined): Listed {
  if (!hasProxy(farm) || farm.state === 'down') return farm;
  return { ...farm, state: was?.state ?? 'unknown', isSilent: was?.isSilent ?? false, asked: was?.asked };
}

function askedAt({ asked }: Farm): number {
  return asked?.atMs ?? neverMs;
}
