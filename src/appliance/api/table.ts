import { activationEndpoints, certificatesEndpoints, ciphersEndpoints, letsencryptEndpoints } from './certificates.ts';
import {
  farmBackendsEndpoints,
  farmCertificatesEndpoints,
  farmFarmguardianEndpoints,
  farmHeadersEndpoints,
  farmIpdsEndpoints,
  farmRewriteurlEndpoints,
  farmServicesEndpoints,
  farmSessionsEndpoints,
  farmZonesEndpoints,
  farmsEndpoints,
} from './farms.ts';
import {
  ipdsBlacklistsEndpoints,
  ipdsDosEndpoints,
  ipdsEndpoints,
  ipdsRblEndpoints,
  ipdsWafEndpoints,
} from './ipds.ts';
import { farmguardianEndpoints, graphsEndpoints, statsEndpoints } from './monitoring.ts';
import { aliasesEndpoints, interfacesEndpoints, routingEndpoints, vpnsEndpoints } from './network.ts';
import { rbacEndpoints } from './rbac.ts';
import type { EndpointRow } from './row.ts';
import {
  cloudEndpoints,
  clusterEndpoints,
  idsEndpoints,
  notificationsEndpoints,
  sessionEndpoints,
  systemBackupEndpoints,
  systemEndpoints,
  systemLogsEndpoints,
  systemServicesEndpoints,
  systemUsersEndpoints,
} from './system.ts';

/**
 * Every verb and path of the appliance's API by key: the key is what logs, audit and documents call
 * a call.
 */
export const endpoints = {
  ...sessionEndpoints,
  ...certificatesEndpoints,
  ...activationEndpoints,
  ...letsencryptEndpoints,
  ...ciphersEndpoints,
  ...farmsEndpoints,
  ...farmCertificatesEndpoints,
  ...farmServicesEndpoints,
  ...farmBackendsEndpoints,
  ...farmHeadersEndpoints,
  ...farmRewriteurlEndpoints,
  ...farmSessionsEndpoints,
  ...farmFarmguardianEndpoints,
  ...farmZonesEndpoints,
  ...farmIpdsEndpoints,
  ...idsEndpoints,
  ...interfacesEndpoints,
  ...aliasesEndpoints,
  ...routingEndpoints,
  ...farmguardianEndpoints,
  ...ipdsEndpoints,
  ...ipdsBlacklistsEndpoints,
  ...ipdsDosEndpoints,
  ...ipdsRblEndpoints,
  ...ipdsWafEndpoints,
  ...vpnsEndpoints,
  ...statsEndpoints,
  ...graphsEndpoints,
  ...systemEndpoints,
  ...systemUsersEndpoints,
  ...systemLogsEndpoints,
  ...systemBackupEndpoints,
  ...systemServicesEndpoints,
  ...clusterEndpoints,
  ...notificationsEndpoints,
  ...rbacEndpoints,
  ...cloudEndpoints,
};

export type EndpointKey = keyof typeof endpoints;

/** The rows with their keys. */
export const endpointRows = Object.entries(endpoints) as readonly (readonly [
  EndpointKey,
  EndpointRow & { readonly area: Area },
])[];

/** The areas into which the table is divided. */
export type Area = (typeof endpoints)[EndpointKey]['area'];
