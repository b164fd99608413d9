import { compareNames } from './listed.ts';
import type { RunbookLabels } from './runbooks.ts';
import { badness } from './sign.ts';

/** Something that is wrong now and would be an alert, with its words and its runbook. */
export interface Problem {
  /** As the alert's severity; what is only `info` there is no problem here. */
  readonly level: 'critical' | 'warning';
  /** Undefined for the exporter itself. */
  readonly appliance: string | undefined;
  readonly title: string;
  /** What follows from it, in a sentence. */
  readonly meaning: string;
  /** `unseen`: it was so when it was first looked at. Undefined where it is about what comes. */
  readonly sinceMs: number | 'unseen' | undefined;
  /** The alert of alerts/zlb.rules.yml, whose runbook is in docs/operations.md. */
  readonly alert: string;
  /** Labels that the alert has beside `appliance`. */
  readonly labels?: Omit<RunbookLabels, 'appliance'>;
}

/** The worst first, and of these the newest; then those of unknown age, and what is still to come, in the order of names. */
export function compareProblems(one: Problem, other: Problem): number {
  return (
    badness(one.level) - badness(other.level) ||
    beginOf(other) - beginOf(one) ||
    compareNames(one.appliance ?? '', other.appliance ?? '')
  );
}

function beginOf({ sinceMs }: Problem): number {
  if (sinceMs === undefined) return -1;
  return sinceMs === 'unseen' ? 0 : sinceMs;
}
