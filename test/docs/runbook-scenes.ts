import type { Farm } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';
import type { Worlds } from './appliances.ts';

/** The situation of a runbook: the labels of the alert, and appliances for which it is right. */
export interface Scene {
  /**
   * Values of the variables that docs/operations.md sets under "Commands", where the alert has
   * others.
   */
  readonly labels?: Readonly<Record<string, string>>;
  readonly appliances?: (worlds: Worlds) => void;
  /** Typed before the first block, and after the last one. */
  readonly before?: string;
  readonly after?: string;
  /**
   * Words of blocks that are another way out and not the next step: the appliances are as at the
   * beginning there.
   */
  readonly otherWays?: readonly string[];
  /** Words of commands that have to fail, as the text around them says. */
  readonly failing?: readonly string[];
}

const dayMs = 86_400_000;
const berlin = { appliance: 'lb-berlin', farm: 'portal', new: 'portal-2027.pem' };
const theBackend = (change: { readonly status: 'up' | 'maintenance'; readonly established: number }): Scene => ({
  appliances: ({ 'lb-madrid': { farms } }) => {
    for (const { backends } of servicesOf(farms.get('shop')))
      for (const backend of backends) if (backend.ip === '10.20.0.13') Object.assign(backend, change);
  },
});
const inMaintenance = theBackend({ status: 'maintenance', established: 0 });
/** One that is drained at once. */
const idle = theBackend({ status: 'up', established: 0 });

export const scenes: Readonly<Record<string, Scene>> = {
  'Replace a certificate': { labels: berlin },
  'Delete a certificate': { labels: berlin },
  'Install an activation certificate': { labels: { appliance: 'lb-lisbon' } },
  Certificates: { labels: berlin },
  ZlbPermissionMissing: {
    appliances: ({ 'lb-madrid': { groups } }) => groups.get('watchers')?.farms.splice(0),
  },
  ZlbCertificateExpirySoon: {
    labels: { ...berlin, file: 'fortnight.pem' },
    appliances: ({ 'lb-berlin': world }) => present(world, 'fortnight.pem'),
  },
  ZlbCertificateExpiryImminent: {
    labels: { ...berlin, file: 'old_example_com.pem' },
    otherWays: ['file=fine_example_com.pem'],
  },
  ZlbCertificateNotYetValid: {
    labels: berlin,
    appliances: ({ 'lb-berlin': { certificates } }) => {
      const file = certificates.get('soon_example_com.pem');
      if (file) Object.assign(file, { notBefore: Date.now() + dayMs, notAfter: Date.now() + 300 * dayMs });
    },
  },
  ZlbCertificateInvalid: {
    labels: { ...berlin, file: 'wrong_key.pem' },
    appliances: ({ 'lb-berlin': world }) => present(world, 'wrong_key.pem'),
  },
  ZlbFarmCertificateMissing: {
    labels: { ...berlin, file: 'deleted.pem' },
    appliances: ({ 'lb-berlin': world }) => present(world, 'deleted.pem'),
  },
  ZlbAcmeRenewalFailed: { labels: berlin },
  ZlbServedCertificateWrongName: { labels: { ...berlin, file: 'fine_example_com.pem' } },
  ZlbApplianceDeactivated: {
    labels: { appliance: 'lb-lisbon' },
    failing: ['readSystemVersion           # "answered 402"'],
  },
  ZlbActivationExpirySoon: { labels: berlin },
  ZlbActivationExpiryImminent: { labels: berlin },
  ZlbFarmDown: { labels: { farm: 'oldportal', service: 'main', backend: '10.20.0.33:80' } },
  ZlbFarmNoBackends: inMaintenance,
  ZlbFarmDegraded: inMaintenance,
  ZlbFarmFlapping: idle,
  ZlbFarmPendingConnections: idle,
  ZlbBackendDown: idle,
  ZlbBackendFlapping: idle,
  ZlbFarmNeedsRestart: { labels: { farm: 'payments' } },
  ZlbFarmWithoutHealthCheck: { labels: { farm: 'dns' } },
  ZlbBackendNearConnectionLimit: { labels: { farm: 'db' } },
  ZlbMaintenanceForgotten: inMaintenance,
  ZlbFarmTrafficStopped: { labels: { appliance: 'lb-paris-1', farm: 'www' } },
  ZlbVpnDown: {
    appliances: ({ 'lb-madrid': { vpns } }) =>
      vpns.set('office', { name: 'office', profile: 'site_to_site', status: 'down', settings: {}, users: new Map() }),
  },
  ZlbAdminDeniedBurst: { after: "zlb-exporter admin unfreeze --reason='the end of the scene'" },
  ZlbAuditWriteFailing: { before: `echo '{"msg":"audit cannot be written","because":"ENOSPC"}' >>exporter.log` },
  ZlbAdminChangeLate: {
    before: 'zlb-exporter admin lb-madrid restart-farm farm=shop --request --reason=TICKET-42',
  },
  ZlbAdminBreakGlass: { after: "zlb-exporter admin unfreeze --reason='the end of the scene'" },
  ZlbAdminFrozen: { before: "zlb-exporter admin freeze --reason='incident 42'" },
};

function present({ farms }: World, certificate: string): void {
  const portal = farms.get('portal');
  if (portal?.profile === 'http') portal.certificates.splice(0, Infinity, certificate);
}

function servicesOf(farm: Farm | undefined) {
  return farm?.profile === 'http' ? farm.services : [];
}
