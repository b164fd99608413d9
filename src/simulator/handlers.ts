import type { Handlers } from './call.ts';
import { activationHandlers } from './replies/activation.ts';
import { aliasHandlers } from './replies/aliases.ts';
import { backendHandlers } from './replies/backends.ts';
import { backupHandlers } from './replies/backups.ts';
import { bondHandlers } from './replies/bonds.ts';
import { certificateHandlers } from './replies/certificates.ts';
import { clusterHandlers } from './replies/cluster.ts';
import { farmActionHandlers } from './replies/farm-actions.ts';
import { farmCertificateHandlers } from './replies/farm-certificates.ts';
import { farmChangeHandlers } from './replies/farm-changes.ts';
import { farmCreationHandlers } from './replies/farm-creation.ts';
import { farmReadHandlers } from './replies/farms.ts';
import { farmStatsHandlers } from './replies/farm-stats.ts';
import { farmguardianHandlers } from './replies/farmguardians.ts';
import { gatewayHandlers } from './replies/gateways.ts';
import { graphHandlers } from './replies/graphs.ts';
import { headerRuleHandlers } from './replies/header-rules.ts';
import { idsHandlers } from './replies/ids.ts';
import { interfaceChangeHandlers } from './replies/interface-changes.ts';
import { interfaceHandlers } from './replies/interfaces.ts';
import { ipdsHandlers } from './replies/ipds.ts';
import { letsencryptHandlers } from './replies/letsencrypt.ts';
import { maintenanceHandlers } from './replies/maintenance.ts';
import { notificationHandlers } from './replies/notifications.ts';
import { rbacHandlers } from './replies/rbac.ts';
import { routingHandlers } from './replies/routing.ts';
import { serviceHandlers } from './replies/services.ts';
import { l4SessionHandlers } from './replies/l4-sessions.ts';
import { systemHandlers } from './replies/system.ts';
import { systemServiceHandlers } from './replies/system-services.ts';
import { systemStatsHandlers } from './replies/system-stats.ts';
import { vpnHandlers } from './replies/vpns.ts';

/** Every call that the simulator answers by its state; the other routes answer in general terms (replies/unknown.ts). */
export const handlers: Handlers = {
  ...activationHandlers,
  ...aliasHandlers,
  ...backendHandlers,
  ...backupHandlers,
  ...bondHandlers,
  ...certificateHandlers,
  ...clusterHandlers,
  ...farmActionHandlers,
  ...farmCertificateHandlers,
  ...farmChangeHandlers,
  ...farmCreationHandlers,
  ...farmReadHandlers,
  ...farmStatsHandlers,
  ...farmguardianHandlers,
  ...gatewayHandlers,
  ...graphHandlers,
  ...headerRuleHandlers,
  ...idsHandlers,
  ...interfaceChangeHandlers,
  ...interfaceHandlers,
  ...ipdsHandlers,
  ...l4SessionHandlers,
  ...letsencryptHandlers,
  ...maintenanceHandlers,
  ...notificationHandlers,
  ...rbacHandlers,
  ...routingHandlers,
  ...serviceHandlers,
  ...systemHandlers,
  ...systemServiceHandlers,
  ...systemStatsHandlers,
  ...vpnHandlers,
};
