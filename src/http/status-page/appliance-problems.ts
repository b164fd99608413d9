import type { ApplianceStatus, InterfaceStatus } from '../../monitor/status.ts';
import { activationProblem } from './activation-problem.ts';
import { certificateProblem } from './certificate-problems.ts';
import { farmProblems } from './farm-problems.ts';
import { countOf } from './listed.ts';
import type { Problem } from './problem.ts';
import { readingProblems } from './reading-problems.ts';

/** Returns all problems of an appliance and its objects. */
export function applianceProblems(status: ApplianceStatus, nowMs: number): readonly Problem[] {
  const { name, farms = [], certificates = [], interfaces = [] } = status;
  return [
    activationProblem(status, nowMs),
    ...readingProblems(status, nowMs),
    seriesProblem(status),
    ...farms.flatMap((farm) => farmProblems(name, farm)),
    ...interfaces.map((each) => interfaceProblem(name, each)),
    ...certificates.map((certificate) => certificateProblem(name, certificate, nowMs)),
  ].filter((problem) => problem !== undefined);
}

/**
 * Warns of series above the limit: they are neither here nor in the metrics, and no alert uses
 * them.
 */
function seriesProblem({ name: appliance, seriesLeftOut }: ApplianceStatus): Problem | undefined {
  if (seriesLeftOut === 0) return undefined;
  return {
    level: 'warning',
    appliance,
    sinceMs: undefined,
    title: `Not all of ${appliance} is shown`,
    meaning: `${countOf(seriesLeftOut, 'series', 'series')} of it are above the limit. What they would tell is neither here nor in the metrics.`,
    alert: 'ZlbSeriesLimitHit',
  };
}

/**
 * An interface that was seen to go down; one that is down by choice never was up while anybody
 * looked.
 */
function interfaceProblem(appliance: string, { name, state, sinceMs }: InterfaceStatus): Problem | undefined {
  if (state !== 'down' || sinceMs === undefined) return undefined;
  return {
    level: 'warning',
    appliance,
    sinceMs,
    title: `Interface ${name} of ${appliance} is down`,
    meaning: 'Farms on its addresses cannot be reached.',
    alert: 'ZlbInterfaceDown',
  };
}
