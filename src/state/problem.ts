import { compareNames } from '../lib/text.ts';
import { type AlertOfProblem, alertSeverities, type Level, levelOfState, levelRank, worstLevel } from './level.ts';
import type { ApplianceStatus } from './status.ts';

/** A present problem, as an alert would report it, with its text and its runbook. */
export interface Problem {
  /** The severity of its alert; `unknown` if it may or may not be a problem. */
  readonly level: 'critical' | 'warning' | 'unknown';
  /** The kind of object that it concerns. */
  readonly about: 'exporter' | 'appliance' | 'activation' | 'interface' | 'farm' | 'certificate';
  /** Undefined for the exporter itself. */
  readonly appliance: string | undefined;
  readonly title: string;
  /** The consequence, in a sentence or more. */
  readonly meaning: string;
  /** `unseen` if it existed at the first reading; undefined for problems in the future. */
  readonly sinceMs?: number | 'unseen' | undefined;
  /** The alert of alerts/zlb.rules.yml, whose runbook is in docs/operations.md. */
  readonly alert: string;
  /** The action on the farm that its runbook begins with; absent if that is none. */
  readonly repair?: 'start' | 'restart';
  /** Further labels of the alert. */
  readonly labels?: Readonly<Partial<Record<'farm' | 'service' | 'backend' | 'file', string>>>;
}

/** A problem before `withLevel`, without the name of the appliance. */
export interface ProblemDraft extends Omit<Problem, 'appliance' | 'level' | 'alert'> {
  readonly alert: AlertOfProblem;
  /** Only if it may or may not be a problem. */
  readonly level?: 'unknown';
}

export function withLevel(problem: ProblemDraft): Omit<Problem, 'appliance'> {
  return { ...problem, level: problem.level ?? alertSeverities[problem.alert] };
}

/** Sorts by severity, then newest first, then unknown age, then the future; last by appliance. */
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

/** The level of an appliance without its objects, and of each object by name. */
export interface Levels {
  readonly appliance: Level;
  /** Null while they are not known, as `certificates`. */
  readonly farms: Readonly<Record<string, Level>> | null;
  readonly certificates: Readonly<Record<string, Level>> | null;
}

export function levelsOf({ up, farms, certificates }: ApplianceStatus, problems: readonly Problem[]): Levels {
  const ofFarms = Map.groupBy(problems, ({ about, labels }) => (about === 'farm' ? labels?.farm : undefined));
  const ofFiles = Map.groupBy(problems, ({ about, labels }) => (about === 'certificate' ? labels?.file : undefined));
  const others = problems.filter(({ about }) => about !== 'farm' && about !== 'certificate');
  const worst = (of: readonly Problem[] = [], otherwise: Level): Level =>
    worstLevel([otherwise, ...of.map(({ level }) => level)]);
  return {
    appliance: worst(others, up === undefined ? 'unknown' : 'well'),
    farms: byName(farms, ({ name, state }) => [name, worst(ofFarms.get(name), levelOfState('farm', state))]),
    certificates: byName(certificates, ({ file }) => [file, worst(ofFiles.get(file), 'well')]),
  };
}

function byName<Of>(all: readonly Of[] | undefined, entry: (each: Of) => readonly [string, Level]) {
  return all ? Object.fromEntries(all.map(entry)) : null;
}
