import type { TransitionObject } from '../collectors/collector.ts';
import { alertSeverities } from './alert-severities.ts';

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

/** The severities of states; a state that has an alert has that of the alert. */
const levels: Readonly<Record<TransitionObject, Readonly<Record<string, Severity>>>> = {
  farm: {
    up: 'well',
    down: alertSeverities.ZlbFarmDown,
    critical: alertSeverities.ZlbFarmDown,
    needed_restart: alertSeverities.ZlbFarmNeedsRestart,
    problem: alertSeverities.ZlbBackendDown,
    maintenance: 'paused',
  },
  backend: { up: 'well', down: alertSeverities.ZlbBackendDown, maintenance: 'paused' },
  certificate: {
    valid: 'well',
    // The appliance says so at 15 days, a third of the life of many certificates: the date decides.
    about_to_expire: 'well',
    expired: alertSeverities.ZlbCertificateExpiryImminent,
    invalid: alertSeverities.ZlbCertificateInvalid,
  },
  activation: { activated: 'well', not_applicable: 'well', deactivated: alertSeverities.ZlbApplianceDeactivated },
  interface: { up: 'well', down: alertSeverities.ZlbInterfaceDown },
};

export function severityOf(object: TransitionObject, state: string): Severity {
  const ofObject = levels[object];
  return Object.hasOwn(ofObject, state) ? (ofObject[state] ?? 'unknown') : 'unknown';
}

/** Returns a state for people: `needed_restart` becomes `needs restart`. */
export function wordOf(state: string): string {
  return state === 'needed_restart' ? 'needs restart' : state.replaceAll('_', ' ');
}
