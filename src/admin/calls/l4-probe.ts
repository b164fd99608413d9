// Detects whether a write has cut the L4 farms of its appliance: the start of nftlb after it had died
// cuts all of them, and the appliance still calls them up (docs/api.md §4.8). Connects to their
// addresses before the write, and again after it. The gateway does so for a call from outside, and
// each step of a change for itself (changes/plan.ts).

import { localAddresses } from '../../collectors/vip.ts';
import { probeVip } from '../../collectors/vip-probe.ts';
import { type VipTarget, vipTargets } from '../../collectors/vip-targets.ts';
import type { VipLimits } from '../../collectors/collector.ts';
import type { RelayResponse } from '../../appliance/relay.ts';
import { adminCommand, joinFirst } from '../../lib/text.ts';
import { toError } from '../../lib/check.ts';
import { AdminError } from '../policy/admin-error.ts';
import { addressOf, type Farm, type KnownFarm } from '../../appliance/farm.ts';
import type { GuardContext } from '../policy/guards/guard.ts';
import { applianceProxy, farmOfCall, l4DaemonUse } from '../policy/l4-daemon.ts';
import { AdminProblem } from '../policy/problem.ts';
import { discard } from './session.ts';

/** An appliance may have hundreds of L4 farms; one daemon serves all. */
const maxProbed = 20;
const probeMs = 1_500;
/** The time until an address that refuses is tried again. */
const retryAfterMs = 2_000;

interface L4Context {
  readonly appliance: string;
  readonly knownFarms: () => readonly KnownFarm[] | undefined;
  readonly vipLimits: VipLimits | undefined;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
}

/** The L4 farms that accepted a connection before a write. */
export interface L4Baseline {
  /**
   * Connects again after the write. Resolves to a sentence about the farms, empty if there are none;
   * rejects with an AdminError if one was cut. `result` says what became of the write itself.
   */
  verify(result: string): Promise<string>;
}

/** Resolves to undefined for a call that does not reach the daemon of L4 farms. */
export async function probeL4Before(
  { operationId, params, fields }: Pick<GuardContext, 'operationId' | 'params' | 'fields'>,
  context: L4Context,
): Promise<L4Baseline | undefined> {
  const farms = context.knownFarms() ?? [];
  const called = farmOfCall(params, fields, farms);
  if (l4DaemonUse(operationId, called, applianceProxy(farms)) === 'none') return undefined;
  const others = farms.filter(({ name, profile }) => profile === 'l4xnat' && name !== called.name);
  const before = await acceptingOf(l4Targets(context, others), context);
  return {
    async verify(result) {
      const cut = await cutOf(before, context);
      if (cut.length > 0) throw cutError(cut, result, context.appliance);
      return others.length === 0 ? '' : comparisonText(before.map(({ farm }) => farm));
    },
  };
}

/**
 * Awaits a call from outside, then verifies the baseline that was probed in its slot, if any. Rejects
 * with `l4_cut` if it cut L4 farms, whatever the call came to.
 */
export async function verifyCall(
  sending: Promise<RelayResponse>,
  baseline: () => L4Baseline | undefined,
): Promise<RelayResponse> {
  const outcome = await sending.then(
    (response) => ({ response, result: `The appliance answered it with ${response.status}.` }),
    (error: unknown) => ({ error, result: toError(error).message }),
  );
  try {
    await baseline()?.verify(outcome.result);
  } catch (error) {
    if ('response' in outcome) discard(outcome.response.body);
    if (!(error instanceof AdminError)) throw error;
    throw new AdminProblem('l4_cut', { detail: `${error.title}. ${error.message}`, remedy: error.remedy });
  }
  if ('error' in outcome) throw outcome.error;
  return outcome.response;
}

function comparisonText(farms: readonly string[]): string {
  if (farms.length === 0) return 'No L4 farm could be reached from here before it, so none was compared.';
  return `${joinFirst(farms)} ${farms.length === 1 ? 'accepts' : 'accept'} connections as before.`;
}

function l4Targets({ vipLimits }: L4Context, farms: readonly Farm[]): readonly VipTarget[] {
  if (!vipLimits) return [];
  const known = { farms, configOf: () => undefined, certificates: undefined };
  return vipTargets(known, { ...vipLimits, serverNames: {} }, localAddresses())
    .filter(({ endpoint }) => endpoint)
    .slice(0, maxProbed);
}

async function acceptingOf(
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

/** Resolves to the targets that accept no connection any more, tried twice. */
async function cutOf(before: readonly VipTarget[], context: L4Context): Promise<readonly VipTarget[]> {
  const refusing = async (targets: readonly VipTarget[]): Promise<readonly VipTarget[]> => {
    const accepting = new Set(await acceptingOf(targets, context));
    return targets.filter((target) => !accepting.has(target));
  };
  const first = await refusing(before);
  if (first.length === 0) return [];
  await context.sleep(retryAfterMs);
  return await refusing(first);
}

function cutError(cut: readonly VipTarget[], result: string, appliance: string): AdminError {
  const names = cut.map(({ farm }) => farm);
  const commands = names.map((farm) => adminCommand(appliance, 'restart-farm', `farm=${farm}`));
  return new AdminError(`${joinFirst(names)} ${names.length === 1 ? 'refuses' : 'refuse'} connections now`, {
    detail: `${joinFirst(cut.map((target) => `${target.farm} at ${addressOf(target)}`))} accepted one before it: their daemon nftlb was started without them. ${result}`,
    remedy: `Restart each L4 farm, whatever the appliance says of it: ${commands.join('; ')}.`,
  });
}
