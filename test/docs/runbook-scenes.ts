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
}

const berlin = { appliance: 'lb-berlin', farm: 'portal', new: 'portal-2027.pem' };
export const scenes: Readonly<Record<string, Scene>> = {
  'Restart a farm': { labels: { farm: 'payments' } },
  'Put a backend into maintenance': {
    // It is drained at once.
    appliances: ({ 'lb-madrid': { farms } }) => {
      for (const { backends } of servicesOf(farms.get('shop')))
        for (const backend of backends)
          if (backend.ip === '10.20.0.13') Object.assign(backend, { status: 'up', established: 0 });
    },
  },
  'Replace a certificate': { labels: berlin },
  'Attach a certificate of the store': {
    labels: { ...berlin, file: 'deleted.pem' },
    appliances: ({ 'lb-berlin': world }) => present(world, 'deleted.pem'),
    after: "zlb-exporter admin $appliance restart-farm farm=$farm --reason='the end of the scene'",
  },
  'Delete a certificate': { labels: { ...berlin, file: 'fortnight.pem' } },
  'Install an activation certificate': { labels: { appliance: 'lb-lisbon' } },
  Certificates: { labels: berlin },
  ZlbCollectorStale: {
    appliances: ({ 'lb-madrid': { groups } }) => groups.get('watchers')?.farms.splice(0),
  },
  ZlbCertificateInvalid: { labels: berlin },
  ZlbAcmeRenewalFailed: { labels: berlin },
  ZlbActivationExpirySoon: { labels: berlin },
  ZlbFarmDown: {
    labels: { farm: 'oldportal', service: 'main', backend: '10.20.0.33:80' },
    // The appliance of `url` has the same farm: it was started without the gateway.
    after: `zapi "/farms/$farm/status" | grep '"status":"up"'`,
  },
  // The appliance of `url` has a farm of the same name, with another service.
  ZlbFarmNoBackends: { labels: { service: 'web' } },
  ZlbFarmWithoutHealthCheck: { labels: { farm: 'dns' } },
  ZlbSaturated: { labels: { farm: 'db' } },
  ZlbFarmTrafficStopped: { labels: { appliance: 'lb-paris-1', farm: 'www' } },
  ZlbVpnDown: {
    appliances: ({ 'lb-madrid': { vpns } }) =>
      vpns.set('office', { name: 'office', profile: 'site_to_site', status: 'down' }),
  },
  ZlbAdminGateway: {
    before: 'zlb-exporter admin lb-madrid restart-farm farm=shop --ask --reason=TICKET-42',
    after: "zlb-exporter admin unfreeze --reason='the end of the scene'",
  },
};

function present({ farms }: World, certificate: string): void {
  const portal = farms.get('portal');
  if (portal?.profile === 'http') portal.certificates.splice(0, Infinity, certificate);
}

function servicesOf(farm: Farm | undefined) {
  return farm?.profile === 'http' ? farm.services : [];
}
