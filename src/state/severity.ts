/** The severities of problems, the worst first; each has a colour, a shape and a word. */
export const severityLevels = ['critical', 'warning', 'unknown', 'paused', 'well'] as const;

export type Severity = (typeof severityLevels)[number];

/** Returns a number for sorting, the worst first. */
export function severityRank(level: Severity): number {
  return severityLevels.indexOf(level);
}

export function worstSeverity(levels: Iterable<Severity>): Severity {
  let found: Severity = 'well';
  for (const level of levels) if (severityRank(level) < severityRank(found)) found = level;
  return found;
}

/** The severities of the states of farms, backends, certificates and the activation. */
const levels: Readonly<Record<string, Severity>> = {
  up: 'well',
  down: 'critical',
  critical: 'critical',
  needed_restart: 'warning',
  problem: 'warning',
  maintenance: 'paused',
  valid: 'well',
  // The appliance says so at 15 days, a third of the life of many certificates: the date decides.
  about_to_expire: 'well',
  expired: 'critical',
  invalid: 'critical',
  activated: 'well',
  not_applicable: 'well',
  deactivated: 'critical',
};

export function severityOf(state: string): Severity {
  return Object.hasOwn(levels, state) ? (levels[state] ?? 'unknown') : 'unknown';
}

/** Returns a state for people: `needed_restart` becomes `needs restart`. */
export function wordOf(state: string): string {
  return state === 'needed_restart' ? 'needs restart' : state.replaceAll('_', ' ');
}
