import { ownAddresses } from '../../collectors/vip.ts';
import { probeVip } from '../../collectors/vip-probe.ts';
import { type VipTarget, vipTargets } from '../../collectors/vip-targets.ts';
import { isRecord, parseJson } from '../../lib/check.ts';
import { adminCommand, listed } from '../../lib/text.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { PolledFarm } from '../policy/guards/guard.ts';
import { proxyIn, reachOfL4Daemon, touchedBy } from '../policy/l4-daemon.ts';
import type { Write } from './calls.ts';
import type { RecipeContext, Step } from './recipe.ts';

/** An appliance may have hundreds of L4 farms; one daemon serves all. */
const maxWatched = 20;
const probeMs = 1_500;
/** The time until an address that refuses is tried again. */
const againAfterMs = 2_000;

/**
 * Returns a step that also tries the addresses of L4 farms, before and after it, if its call reaches
 * their daemon: the start of one that had died cuts all L4 farms, and the appliance calls them up
 * (docs/api.md §4.8). It fails if one that accepted a connection does not any more.
 */
export function watchingL4(step: Step, context: RecipeContext): Step {
  const { write } = step;
  const touched = write && touchedFarm(write, context);
  if (touched === undefined) return step;
  return {
    ...step,
    async run(send) {
      const others = l4Farms(context, touched);
      const before = await accepting(l4Targets(context, others), context);
      const outcome = await step.run(send).then(
        (done) => ({ done }),
        (error: unknown) => ({ error }),
      );
      const cut = await cutOf(before, context);
      if (cut.length > 0) throw cutError(cut, outcome, context);
      if ('error' in outcome) throw outcome.error;
      return others.length === 0 ? outcome.done : `${outcome.done} ${found(before.map(({ farm }) => farm))}`;
    },
  };
}

function found(served: readonly string[]): string {
  if (served.length === 0) return 'No L4 farm could be reached from here before it, so none was compared.';
  return `${listed(served)} ${served.length === 1 ? 'accepts' : 'accept'} connections as before.`;
}

/** Returns the farm of a call that reaches, or may reach, the daemon of L4 farms. */
function touchedFarm({ key, params, content }: Write, { knownFarms }: RecipeContext): string | undefined {
  const farms = knownFarms();
  const body = parseJson(content?.bytes ?? Buffer.of());
  const touched = touchedBy(params, isRecord(body) ? body : {}, farms);
  return reachOfL4Daemon(key, touched, proxyIn(farms)) === 'does not' ? undefined : touched.name;
}

function l4Farms({ knownFarms }: RecipeContext, touched: string): readonly PolledFarm[] {
  return (knownFarms() ?? []).filter(({ name, profile }) => profile === 'l4xnat' && name !== touched);
}

/** Returns the addresses of farms that may be connected to. */
function l4Targets({ limits }: RecipeContext, farms: readonly PolledFarm[]): readonly VipTarget[] {
  if (!limits) return [];
  const known = { farms, configOf: () => undefined, certificates: undefined };
  return vipTargets(known, { ...limits, serverNames: {} }, ownAddresses())
    .filter(({ endpoint }) => endpoint)
    .slice(0, maxWatched);
}

/** Resolves to the farms of which an address accepts a TCP connection. */
async function accepting(
  targets: readonly VipTarget[],
  { signal }: Pick<RecipeContext, 'signal'>,
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
async function cutOf(before: readonly VipTarget[], context: RecipeContext): Promise<readonly VipTarget[]> {
  const without = async (list: readonly VipTarget[]): Promise<readonly VipTarget[]> => {
    const still = new Set(await accepting(list, context));
    return list.filter((target) => !still.has(target));
  };
  const first = await without(before);
  if (first.length === 0) return [];
  await context.sleep(againAfterMs);
  return await without(first);
}

function cutError(
  cut: readonly VipTarget[],
  outcome: { readonly done: string } | { readonly error: unknown },
  { calls }: RecipeContext,
): AdminError {
  const names = cut.map(({ farm }) => farm);
  const own = 'done' in outcome ? outcome.done : outcome.error instanceof Error ? outcome.error.message : '';
  const commands = names.map((farm) => adminCommand(calls.appliance, 'restart-farm', `farm=${farm}`));
  return new AdminError(`${listed(names)} ${names.length === 1 ? 'refuses' : 'refuse'} connections now`, {
    detail: `${listed(cut.map(({ farm, vip, vport }) => `${farm} at ${vip}:${vport}`))} accepted one before this step: their daemon nftlb was started without them. ${own}`,
    remedy: `Restart each L4 farm, whatever the appliance says of it: ${commands.join('; ')}.`,
  });
}
