import * as certificates from './certificates.ts';
import * as farms from './farms.ts';
import * as ipds from './ipds.ts';
import * as monitoring from './monitoring.ts';
import * as network from './network.ts';
import * as rbac from './rbac.ts';
import * as system from './system.ts';
import type { EndpointRow } from './row.ts';

/**
 * Every verb and path of the appliance's API by key: the key is what logs, audit and documents call
 * a call.
 */
export const endpoints = {
  ...system.sessionEndpoints,
  ...certificates.certificatesEndpoints,
  ...certificates.activationEndpoints,
  ...certificates.letsencryptEndpoints,
  ...certificates.ciphersEndpoints,
  ...farms.farmsEndpoints,
  ...farms.farmCertificatesEndpoints,
  ...farms.farmServicesEndpoints,
  ...farms.farmBackendsEndpoints,
  ...farms.farmHeadersEndpoints,
  ...farms.farmRewriteurlEndpoints,
  ...farms.farmSessionsEndpoints,
  ...farms.farmFarmguardianEndpoints,
  ...farms.farmZonesEndpoints,
  ...farms.farmIpdsEndpoints,
  ...system.idsEndpoints,
  ...network.interfacesEndpoints,
  ...network.aliasesEndpoints,
  ...network.routingEndpoints,
  ...monitoring.farmguardianEndpoints,
  ...ipds.ipdsEndpoints,
  ...ipds.ipdsBlacklistsEndpoints,
  ...ipds.ipdsDosEndpoints,
  ...ipds.ipdsRblEndpoints,
  ...ipds.ipdsWafEndpoints,
  ...network.vpnsEndpoints,
  ...monitoring.statsEndpoints,
  ...monitoring.graphsEndpoints,
  ...system.systemEndpoints,
  ...system.systemUsersEndpoints,
  ...system.systemLogsEndpoints,
  ...system.systemBackupEndpoints,
  ...system.systemServicesEndpoints,
  ...system.clusterEndpoints,
  ...system.notificationsEndpoints,
  ...rbac.rbacEndpoints,
  ...system.cloudEndpoints,
};

export type EndpointKey = keyof typeof endpoints;

export const endpointRows = Object.entries(endpoints) as readonly (readonly [
  EndpointKey,
  EndpointRow & { readonly area: Area },
])[];

export type Area = (typeof endpoints)[EndpointKey]['area'];
