import { activationEndpoints } from './activation.ts';
import { aliasesEndpoints } from './aliases.ts';
import { certificatesEndpoints } from './certificates.ts';
import { ciphersEndpoints } from './ciphers.ts';
import { cloudEndpoints } from './cloud.ts';
import { clusterEndpoints } from './cluster.ts';
import { farmBackendsEndpoints } from './farm-backends.ts';
import { farmCertificatesEndpoints } from './farm-certificates.ts';
import { farmFarmguardianEndpoints } from './farm-farmguardian.ts';
import { farmHeadersEndpoints } from './farm-headers.ts';
import { farmIpdsEndpoints } from './farm-ipds.ts';
import { farmRewriteurlEndpoints } from './farm-rewriteurl.ts';
import { farmServicesEndpoints } from './farm-services.ts';
import { farmSessionsEndpoints } from './farm-sessions.ts';
import { farmZonesEndpoints } from './farm-zones.ts';
import { farmguardianEndpoints } from './farmguardian.ts';
import { farmsEndpoints } from './farms.ts';
import { graphsEndpoints } from './graphs.ts';
import { idsEndpoints } from './ids.ts';
import { interfacesEndpoints } from './interfaces.ts';
import { ipdsEndpoints } from './ipds.ts';
import { ipdsBlacklistsEndpoints } from './ipds-blacklists.ts';
import { ipdsDosEndpoints } from './ipds-dos.ts';
import { ipdsRblEndpoints } from './ipds-rbl.ts';
import { ipdsWafEndpoints } from './ipds-waf.ts';
import { letsencryptEndpoints } from './letsencrypt.ts';
import { notificationsEndpoints } from './notifications.ts';
import { rbacEndpoints } from './rbac.ts';
import { routingEndpoints } from './routing.ts';
import { sessionEndpoints } from './session.ts';
import { statsEndpoints } from './stats.ts';
import { systemEndpoints } from './system.ts';
import { systemBackupEndpoints } from './system-backup.ts';
import { systemLogsEndpoints } from './system-logs.ts';
import { systemServicesEndpoints } from './system-services.ts';
import { systemUsersEndpoints } from './system-users.ts';
import type { EndpointRow } from './row.ts';
import { vpnsEndpoints } from './vpns.ts';

/** Every verb and path of the appliance's API by key: the key is what logs, audit and documents call a call. */
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
} as const;

export type EndpointKey = keyof typeof endpoints;

/** The rows with their keys. */
export const endpointRows = Object.entries(endpoints) as readonly (readonly [
  EndpointKey,
  EndpointRow & { readonly area: Area },
])[];

/** The areas into which the table is divided. */
export type Area = (typeof endpoints)[EndpointKey]['area'];
