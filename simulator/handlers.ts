import { type Call, done, type Handlers, read, type Reply } from './call.ts';
import { checkParameters } from './parameters.ts';
import { acmeHandlers } from './replies/acme.ts';
import { activationHandlers } from './replies/activation.ts';
import { backendHandlers, l4SessionHandlers } from './replies/backends.ts';
import { certificateHandlers } from './replies/certificates.ts';
import { clusterHandlers } from './replies/cluster.ts';
import { farmActionHandlers, maintenanceHandlers } from './replies/farm-actions.ts';
import { farmChangeHandlers, farmCreationHandlers } from './replies/farm-changes.ts';
import { farmStatsHandlers } from './replies/farm-stats.ts';
import { farmguardianHandlers } from './replies/farmguardians.ts';
import { farmReadHandlers } from './replies/farms.ts';
import { farmOf } from './replies/find.ts';
import { graphHandlers } from './replies/graphs.ts';
import { farmCertificateHandlers, headerRuleHandlers, serviceHandlers } from './replies/http-farms.ts';
import { idsHandlers } from './replies/ids.ts';
import { aliasHandlers, bondHandlers, interfaceChangeHandlers } from './replies/interface-changes.ts';
import { interfaceHandlers } from './replies/interfaces.ts';
import { ipdsHandlers } from './replies/ipds.ts';
import { gatewayHandlers, routingHandlers } from './replies/routing.ts';
import { notificationHandlers, systemServiceHandlers } from './replies/system-services.ts';
import { systemStatsHandlers } from './replies/system-stats.ts';
import { backupHandlers, systemHandlers } from './replies/system.ts';
import { rbacHandlers } from './replies/users.ts';
import { vpnHandlers } from './replies/vpns.ts';

/**
 * The calls that the simulator answers from its state, by route; `answerAnyway` answers the others.
 */
export const handlers: Handlers = {
  ...acmeHandlers,
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

/**
 * Answers a route that has no handler: a read gets an empty list, a write the common success body.
 * A farm in the path must exist. A write that sends `{}` gets an empty list of parameters.
 */
export function answerAnyway(call: Call): Reply {
  if ('farmname' in call.params) farmOf(call);
  if (call.route.startsWith('GET ')) return read([]);
  const sentNothing =
    call.json !== undefined && Object.keys(call.json).length === 0 && !call.route.startsWith('DELETE ');
  if (sentNothing) checkParameters(call, {});
  return done('It was done.');
}
