import { compareNames } from './html.ts';
import type { RunbookLabels } from './runbooks.ts';
import { severityRank } from './severity.ts';

/** A present problem that would be an alert, with its text and its runbook. */
export interface Problem {
  /** The alert's severity; `info` is no problem. */
  readonly level: 'critical' | 'warning';
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
  readonly labels?: Omit<RunbookLabels, 'appliance'>;
}

/** A problem of an appliance, without its name. */
export type OwnProblem = Omit<Problem, 'appliance'>;

/** Sorts by severity, then newest first; then those of unknown age and future ones, by name. */
export function compareProblems(one: Problem, other: Problem): number {
  return (
    severityRank(one.level) - severityRank(other.level) ||
    beginOf(other) - beginOf(one) ||
    compareNames(one.appliance ?? '', other.appliance ?? '')
  );
}

function beginOf({ sinceMs }: Problem): number {
  if (sinceMs === undefined) return -1;
  return sinceMs === 'unseen' ? 0 : sinceMs;
}
