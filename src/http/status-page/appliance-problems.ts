import type { ApplianceStatus, RecentTransition } from '../../monitor/status.ts';
import { activationProblem } from './activation-problem.ts';
import { certificateProblem } from './certificate-problems.ts';
import { farmProblems } from './farm-problems.ts';
import { counted } from './listed.ts';
import type { Problem } from './problem.ts';
import { readingProblems } from './reading-problems.ts';

/** Everything that is wrong with an appliance and on it, by what is known of it. */
export function applianceProblems(status: ApplianceStatus, nowMs: number): readonly Problem[] {
  const { name, farms = [], certificates = [] } = status;
  return [
    activationProblem(status, nowMs),
    ...readingProblems(status, nowMs),
    seriesProblem(status),
    ...farms.flatMap((farm) => farmProblems(name, farm)),
    ...certificates.map((certificate) => certificateProblem(name, certificate, nowMs)),
  ].filter((problem) => problem !== undefined);
}

/** What gives way to the limit is nowhere: neither here nor in the metrics, and no alert goes by it. */
function seriesProblem({ name: appliance, seriesLeftOut }: ApplianceStatus): Problem | undefined {
  if (seriesLeftOut === 0) return undefined;
  return {
    level: 'warning',
    appliance,
    sinceMs: undefined,
    title: `Not all of ${appliance} is shown`,
    meaning: `${counted(seriesLeftOut, 'series', 'series')} of it are above the limit. What they would tell is neither here nor in the metrics.`,
    alert: 'ZlbSeriesLimitHit',
  };
}

/** An interface that was up; one that is down by choice never was while anybody looked. */
export function interfaceProblem({ appliance, object, labels, to, atMs }: RecentTransition): Problem | undefined {
  if (object !== 'interface' || to !== 'down') return undefined;
  return {
    level: 'warning',
    appliance,
    sinceMs: atMs,
    title: `Interface ${labels['interface']} of ${appliance} is down`,
    meaning: 'Farms on its addresses cannot be reached.',
    alert: 'ZlbInterfaceDown',
  };
}
