/**
 * How urgent each problem is that the status page and the plug-in show: critical wakes somebody,
 * since clients are cut off, will be within days, or nobody would notice it; warning is for the
 * day. The rules in `alerts/` have the same severities; a test compares the two.
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
  ZlbFarmDegraded: 'warning',
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
