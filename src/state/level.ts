import type { StatefulKind } from '../lib/states.ts';

/** How bad something is, the worst first; each level has a colour, a shape and a word. */
export const allLevels = ['critical', 'warning', 'unknown', 'paused', 'well'] as const;

export type Level = (typeof allLevels)[number];

/** Returns a number for sorting, the worst first. */
export function levelRank(level: Level): number {
  return allLevels.indexOf(level);
}

export function worstLevel(levels: Iterable<Level>): Level {
  let worst: Level = 'well';
  for (const level of levels) if (levelRank(level) < levelRank(worst)) worst = level;
  return worst;
}

/**
 * The severity of each problem on the status page and in the plug-in. Critical wakes somebody:
 * clients are cut off, will be within days, or nobody would notice it. Warning is for the day. The
 * rules in `alerts/` have the same severities; a test compares the two.
 */
export const alertSeverities = {
  ZlbFarmDown: 'critical',
  ZlbFarmUnreachable: 'critical',
  ZlbFarmNoBackends: 'critical',
  ZlbFarmsUnknown: 'critical',
  ZlbCertificateExpiryImminent: 'critical',
  ZlbActivationExpiryImminent: 'critical',
  // Farms go on working without the API, also while it refuses the key or is deactivated.
  ZlbApplianceUnreachable: 'warning',
  ZlbApplianceDeactivated: 'warning',
  ZlbActivationExpirySoon: 'warning',
  ZlbBackendDown: 'warning',
  ZlbCertificateExpirySoon: 'warning',
  ZlbCertificateInvalid: 'warning',
  ZlbCollectorStale: 'warning',
  ZlbExporterFault: 'warning',
  ZlbFarmNeedsRestart: 'warning',
  ZlbFarmStatusUnknown: 'warning',
  ZlbInterfaceDown: 'warning',
  ZlbObjectiveWithoutFarm: 'warning',
  ZlbRequestLogSilent: 'warning',
  ZlbServedCertificateDiffers: 'warning',
  ZlbServedCertificateWrongName: 'warning',
  ZlbUnusedCertificateExpiry: 'warning',
} as const;

export type AlertOfProblem = keyof typeof alertSeverities;

/** The level of each state; a state with an alert has the severity of the alert. */
const levels: Readonly<Record<StatefulKind, Readonly<Record<string, Level>>>> = {
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
    // Appliances say so at 15 days, a third of the life of many certificates: the date decides.
    about_to_expire: 'well',
    expired: alertSeverities.ZlbCertificateExpiryImminent,
    invalid: alertSeverities.ZlbCertificateInvalid,
  },
  activation: { activated: 'well', not_applicable: 'well', deactivated: alertSeverities.ZlbApplianceDeactivated },
  interface: { up: 'well', down: alertSeverities.ZlbInterfaceDown },
};

export function levelOfState(object: StatefulKind, state: string): Level {
  const ofObject = levels[object];
  return Object.hasOwn(ofObject, state) ? (ofObject[state] ?? 'unknown') : 'unknown';
}
