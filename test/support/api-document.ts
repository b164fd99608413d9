import type { FailureReason } from '../../src/appliance/errors.ts';

/**
 * Every verb and path that the tables of the API document name under "Endpoints", spelt as there,
 * with its lists taken apart and its "ADD" written as POST. `<x>` is one path segment, `*` any
 * rest.
 */
export const apiDocumentOperations = [
  // Certificate and licence endpoints
  'GET /certificates/activation',
  'POST /certificates/activation',
  'DELETE /certificates/activation',
  'GET /certificates',
  'GET /certificates/<file>',
  'GET /certificates/<file>/info',
  'DELETE /certificates/<file>',
  'POST /certificates',

  // Farm creation
  'POST /farms',

  // RBAC user password change
  'GET /system/users',
  'POST /system/users',

  // Other endpoints: farms
  'GET /farms/modules/summary',
  'GET /farms/<farmname>/ipds/waf/*',
  'POST /farms/<farmname>/ipds/waf/*',
  'PUT /farms/<farmname>/ipds/waf/*',
  'DELETE /farms/<farmname>/ipds/waf/*',
  'POST /farms/<farm>/certificates/<cert>/actions',
  'GET /farms/<farmname>',
  'PUT /farms/<farmname>',
  'GET /farms/<farmname>/services/<id>',
  'PUT /farms/<farmname>/services/<id>',
  'GET /farms/<l4farm>',
  'POST /farms/<l4farm>',
  'PUT /farms/<l4farm>',
  'DELETE /farms/<l4farm>',
  'POST /farms/<farmname>/addresponseheader',
  'POST /farms/<farmname>/removeresponseheader',
  'DELETE /farms/<farmname>/addresponseheader/<n>',
  'DELETE /farms/<farmname>/removeresponseheader/<n>',
  'POST /farms/<farmname>/service/<servicename>/rewriteurl/*',
  'DELETE /farms/<farmname>/service/<servicename>/rewriteurl/*',
  'POST /farms/<farmname>/replacerequestheader/*',
  'DELETE /farms/<farmname>/replacerequestheader/*',
  'POST /farms/<farmname>/replaceresponseheader/*',
  'DELETE /farms/<farmname>/replaceresponseheader/*',
  'GET /farms/<farmname>/services/<servicename>/sessions/*',
  'POST /farms/<farmname>/services/<servicename>/sessions/*',
  'DELETE /farms/<farmname>/services/<servicename>/sessions/*',
  'GET /farms/<farmname>/sessions',
  'POST /farms/<farmname>/sessions',
  'DELETE /farms/<farmname>/sessions/<session>',
  'GET /ids',

  // Other endpoints: network and health checks
  'PUT /interfaces/nic/<if>',
  'PUT /interfaces/bonding/<if>',
  'POST /interfaces/vlan',
  'PUT /interfaces/vlan/<if>',
  'GET /routing/*',
  'POST /routing/*',
  'PUT /routing/*',
  'DELETE /routing/*',
  'POST /monitoring/fg',
  'PUT /monitoring/fg',
  'GET /monitoring/fg/<name>',
  'GET /monitoring/fg*/<farmguardian>',
  'PUT /monitoring/fg*/<farmguardian>',

  // Other endpoints: intrusion prevention and VPN
  'GET /ipds/package',
  'POST /ipds/package/actions',
  'GET /ipds/waf/*',
  'POST /ipds/waf/*',
  'PUT /ipds/waf/*',
  'DELETE /ipds/waf/*',
  'POST /ipds/waf/<name>',
  'GET /ipds/waf/files',
  'PUT /ipds/waf/files',
  'DELETE /ipds/waf/files',
  'GET /vpns/*',
  'POST /vpns/*',
  'PUT /vpns/*',
  'DELETE /vpns/*',

  // Other endpoints: system, statistics and RBAC
  'GET /system/info',
  'GET /system/global',
  'POST /system/global',
  'POST /system/factory',
  'GET /system/proxy',
  'POST /system/proxy',
  'GET /system/packages',
  'POST /system/ssh',
  'POST /system/http',
  'GET /system/https/certificate',
  'POST /system/https/certificate',
  'GET /system/rsyslog',
  'POST /system/rsyslog',
  'DELETE /system/rsyslog',
  'GET /system/cluster',
  'PUT /system/cluster',
  'GET /stats/farms/<farmname>',
  'GET /rbac/users',
  'POST /rbac/users',
  'GET /rbac/users/<user>',
  'PUT /rbac/users/<user>',
  'GET /rbac/services',
  'POST /rbac/services',
  'GET /rbac/ldap*',
  'POST /rbac/ldap*',
  'GET /rbac/menus',
  'PUT /rbac/roles/<ROLE>',
] as const;

/**
 * The eleven error statuses of the API document ("Errors"), with the reason for which each stands
 * here.
 */
export const documentStatuses: readonly (readonly [status: number, reason: FailureReason])[] = [
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [402, 'unlicensed'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [406, 'unavailable'],
  [409, 'conflict'],
  [410, 'gone'],
  [500, 'server_error'],
  [504, 'gateway_timeout'],
];
