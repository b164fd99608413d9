/** The alerts of alerts/zlb.rules.yml that cannot fire while a collector has no data. */
export const lostAlerts: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'farms',
    [
      'ZlbFarmDown',
      'ZlbFarmFlapping',
      'ZlbFarmDisappeared',
      'ZlbAllFarmsDisappeared',
      'ZlbFarmStatusUnknown',
      'ZlbFarmNeedsRestart',
      'ZlbFarmPendingConnections',
      'ZlbFarmTrafficStopped',
    ],
  ],
  [
    'activation',
    [
      'ZlbApplianceDeactivated',
      'ZlbActivationExpirySoon',
      'ZlbActivationExpiryImminent',
      'ZlbSupportEndsSoon',
      'ZlbSupportEnded',
    ],
  ],
  [
    'certificates',
    [
      'ZlbCertificateExpirySoon',
      'ZlbCertificateExpiryImminent',
      'ZlbCertificateExpired',
      'ZlbCertificateNotYetValid',
      'ZlbCertificateUnreadable',
      'ZlbCertificateInvalid',
      'ZlbCertificateStatusDiffers',
      'ZlbCertificateDisappeared',
    ],
  ],
  [
    'backends',
    [
      'ZlbFarmNoBackends',
      'ZlbFarmDegraded',
      'ZlbBackendDown',
      'ZlbBackendFlapping',
      'ZlbBackendNearConnectionLimit',
      'ZlbMaintenanceForgotten',
    ],
  ],
  ['interfaces', ['ZlbInterfaceDown']],
  ['system', ['ZlbCpuSaturated', 'ZlbMemorySaturated']],
  ['vpn', ['ZlbVpnDown']],
  ['cluster', ['ZlbClusterNodeDown']],
  ['farm_config', ['ZlbFarmCertificateMissing', 'ZlbFarmWithoutHealthCheck']],
  ['packages', ['ZlbPackagesPending']],
  ['backups', ['ZlbBackupTooOld', 'ZlbBackupMissing']],
]);
