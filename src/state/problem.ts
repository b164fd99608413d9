import { compareNames } from '../lib/text.ts';
import { type AlertOfProblem, alertSeverities } from './alert-severities.ts';
import { levelRank } from './level.ts';

/** A present problem that would be an alert, with its text and its runbook. */
export interface Problem {
  /** The severity of its alert. `unknown`: nobody knows whether it is one. */
  readonly level: 'critical' | 'warning' | 'unknown';
  /** The kind of object that it concerns. */
  readonly about: 'exporter' | 'appliance' | 'activation' | 'interface' | 'farm' | 'certificate';
  /** Undefined for the exporter itself. */
  readonly appliance: string | undefined;
  readonly title: string;
  /** Its consequence, in a sentence. */
  readonly meaning: string;
  /** `unseen`: it existed at the first reading. Undefined for problems in the future. */
  readonly sinceMs?: number | 'unseen' | undefined;
  /** The alert of alerts/zlb.rules.yml, whose runbook is in docs/operations.md. */
  readonly alert: string;
  /** Further labels of the alert. */
  readonly labels?: Readonly<Partial<Record<'farm' | 'service' | 'backend' | 'file', string>>>;
}

/** A problem of an appliance, without its name; its alert has its severity. */
export interface OwnProblem extends Omit<Problem, 'appliance' | 'level' | 'alert'> {
  readonly alert: AlertOfProblem;
  /** Only where nobody knows whether it is one. */
  readonly level?: 'unknown';
}

/** Gives a problem the severity of its alert. */
export function withLevel(problem: OwnProblem): Omit<Problem, 'appliance'> {
  return { ...problem, level: problem.level ?? alertSeverities[problem.alert] };
}

/** Sorts by severity, then newest first; then those of unknown age and future ones, by name. */
export function compareProblems(one: Problem, other: Problem): number {
  return (
    levelRank(one.level) - levelRank(other.level) ||
    beginOf(other) - beginOf(one) ||
    compareNames(one.appliance ?? '', other.appliance ?? '')
  );
}

function beginOf({ sinceMs }: Problem): number {
  if (sinceMs === undefined) return -1;
  return sinceMs === 'unseen' ? 0 : sinceMs;
}
