import type { ApplianceStatus, RecentTransition } from '../../monitor/status.ts';
import { activationProblem } from './activation-problem.ts';
import { certificateProblem } from './certificate-problems.ts';
import { farmProblems } from './farm-problems.ts';
import type { Problem } from './problem.ts';
import { readingProblems } from './reading-problems.ts';

/** Everything that is wrong with an appliance and on it, by what is known of it. */
export function applianceProblems(status: ApplianceStatus, nowMs: number): readonly Problem[] {
  const { name, farms = [], certificates = [] } = status;
  return [
    activationProblem(status, nowMs),
    ...readingProblems(status, nowMs),
    ...farms.flatMap((farm) => farmProblems(name, farm)),
    ...certificates.map((certificate) => certificateProblem(name, certificate, nowMs)),
  ].filter((problem) => problem !== undefined);
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
