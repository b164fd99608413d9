import type { Problem } from './problem.ts';
import { type Level, worstLevel } from './level.ts';
import { levelOfState } from './state-level.ts';
import type { ApplianceStatus } from './status.ts';

/** The judgement in a word: of an appliance without its objects, and of each object by name. */
export interface Levels {
  readonly appliance: Level;
  /** Null while they are not known, as the next one. */
  readonly farms: Readonly<Record<string, Level>> | null;
  readonly certificates: Readonly<Record<string, Level>> | null;
}

/** Returns the worst level of the problems of each. */
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
