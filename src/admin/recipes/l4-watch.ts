import { ownAddresses } from '../../collectors/vip.ts';
import { probeVip } from '../../collectors/vip-probe.ts';
import { type VipTarget, vipTargets } from '../../collectors/vip-targets.ts';
import { isRecord, parseJson } from '../../lib/check.ts';
import { adminCommand, listed } from '../../lib/text.ts';
import { AdminError } from '../policy/admin-error.ts';
import { addressOf, type Farm } from '../../appliance/farm.ts';
import { proxyIn, reachOfL4Daemon, touchedBy } from '../policy/l4-daemon.ts';
import type { Write } from './calls.ts';
import type { RecipeContext, Step } from './recipe.ts';

/** An appliance may have hundreds of L4 farms; one daemon serves all. */
const maxWatched = 20;
const probeMs = 1_500;
/** The time until an address that refuses is tried again. */
const againAfterMs = 2_000;

/** A call that may reach the daemon of L4 farms. */
interface WatchedCall extends Pick<Write, 'key' | 'params'> {
  /** The fields of its JSON body. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The part of the context of a change that a look at L4 farms needs. */
type L4Context = Pick<RecipeContext, 'knownFarms' | 'vipLimits' | 'signal' | 'sleep'> & {
  readonly calls: Pick<RecipeContext['calls'], 'appliance'>;
};

/**
 * Resolves to a sentence about the L4 farms, empty if there are none beside the touched one; rejects
 * with an AdminError that has the cure if one was cut. `own` is a sentence about the call itself.
 */
export type LookAfter = (own: string) => Promise<string>;

/** Returns a step that also tries the addresses of L4 farms, see {@link lookBefore}. */
export function watchingL4(step: Step, context: RecipeContext): Step {
  const { write } = step;
  if (!write) return step;
  const body = parseJson(write.content?.bytes ?? Buffer.of());
  const call = { ...write, fields: isRecord(body) ? body : {} };
  const touched = touchedFarm(call, context);
  if (touched === undefined) return step;
  return {
    ...step,
    async run(send) {
      const lookAfter = await tryFarms(touched, context);
      const outcome = await step.run(send).then(
        (done) => ({ done }),
        (error: unknown) => ({ error }),
      );
      const own = 'done' in outcome ? outcome.done : outcome.error instanceof Error ? outcome.error.message : '';
      const found = await lookAfter(own);
      if ('error' in outcome) throw outcome.error;
      return found === '' ? outcome.done : `${outcome.done} ${found}`;
    },
  };
}

/**
 * Tries the addresses of L4 farms if a call reaches their daemon, or may: the start of one that had
 * died cuts all L4 farms, and the appliance calls them up (docs/api.md §4.8). Resolves to the look
 * after the call, which does nothing for a call that does not reach it.
 */
export async function lookBefore(call: WatchedCall, context: L4Context): Promise<LookAfter> {
  const touched = touchedFarm(call, context);
  return touched === undefined ? () => Promise.resolve('') : await tryFarms(touched, context);
}

async function tryFarms(touched: string, context: L4Context): Promise<LookAfter> {
  const others = l4Farms(context, touched);
  const before = await accepting(l4Targets(context, others), context);
  return async (own) => {
    const cut = await cutOf(before, context);
    if (cut.length > 0) throw cutError(cut, own, context);
    return others.length === 0 ? '' : found(before.map(({ farm }) => farm));
  };
}

function found(served: readonly string[]): string {
  if (served.length === 0) return 'No L4 farm could be reached from here before it, so none was compared.';
  return `${listed(served)} ${served.length === 1 ? 'accepts' : 'accept'} connections as before.`;
}

/** Returns the farm of a call that reaches, or may reach, the daemon of L4 farms. */
function touchedFarm({ key, params, fields }: WatchedCall, { knownFarms }: L4Context): string | undefined {
  const farms = knownFarms();
  const touched = touchedBy(params, fields, farms);
  return reachOfL4Daemon(key, touched, proxyIn(farms)) === 'does not' ? undefined : touched.name;
}

function l4Farms({ knownFarms }: L4Context, touched: string): readonly Farm[] {
  return (knownFarms() ?? []).filter(({ name, profile }) => profile === 'l4xnat' && name !== touched);
}

/** Returns the addresses of farms that may be connected to. */
function l4Targets({ vipLimits }: L4Context, farms: readonly Farm[]): readonly VipTarget[] {
  if (!vipLimits) return [];
  const known = { farms, configOf: () => undefined, certificates: undefined };
  return vipTargets(known, { ...vipLimits, serverNames: {} }, ownAddresses())
    .filter(({ endpoint }) => endpoint)
    .slice(0, maxWatched);
}

/** Resolves to the farms of which an address accepts a TCP connection. */
async function accepting(
  targets: readonly VipTarget[],
  { signal }: Pick<L4Context, 'signal'>,
): Promise<readonly VipTarget[]> {
  const results = await Promise.all(
    targets.map(async ({ endpoint }) => {
      if (!endpoint) return false;
      return (await probeVip({ ...endpoint, serverName: undefined, withinMs: probeMs }, signal)).isReachable === true;
    }),
  );
  return targets.filter((_, index) => results[index]);
}

/** Resolves to those of the farms that accept no connection any more, tried twice. */
async function cutOf(before: readonly VipTarget[], context: L4Context): Promise<readonly VipTarget[]> {
  const without = async (list: readonly VipTarget[]): Promise<readonly VipTarget[]> => {
    const still = new Set(await accepting(list, context));
    return list.filter((target) => !still.has(target));
  };
  const first = await without(before);
  if (first.length === 0) return [];
  await context.sleep(againAfterMs);
  return await without(first);
}

function cutError(cut: readonly VipTarget[], own: string, { calls }: L4Context): AdminError {
  const names = cut.map(({ farm }) => farm);
  const commands = names.map((farm) => adminCommand(calls.appliance, 'restart-farm', `farm=${farm}`));
  return new AdminError(`${listed(names)} ${names.length === 1 ? 'refuses' : 'refuse'} connections now`, {
    detail: `${listed(cut.map((target) => `${target.farm} at ${addressOf(target)}`))} accepted one before it: their daemon nftlb was started without them. ${own}`,
    remedy: `Restart each L4 farm, whatever the appliance says of it: ${commands.join('; ')}.`,
  });
}
