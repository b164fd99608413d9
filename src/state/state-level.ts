import type { TransitionObject } from '../collectors/collector.ts';
import { alertSeverities } from './alert-severities.ts';
import type { Level } from './level.ts';

/** The level of each state; a state that has an alert has the severity of the alert. */
const levels: Readonly<Record<TransitionObject, Readonly<Record<string, Level>>>> = {
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

export function levelOfState(object: TransitionObject, state: string): Level {
  const ofObject = levels[object];
  return Object.hasOwn(ofObject, state) ? (ofObject[state] ?? 'unknown') : 'unknown';
}

/** Returns a state for people: `needed_restart` becomes `needs restart`. */
export function wordOfState(state: string): string {
  return state === 'needed_restart' ? 'needs restart' : state.replaceAll('_', ' ');
}
