import type { Method, Route } from '../../src/appliance/api/row.ts';
import type { FailureReason } from '../../src/appliance/errors.ts';

/**
 * Every path that the tables of the API document name under "Endpoints", spelt as there, after its
 * verbs; its "ADD" is written as POST. `<x>` is one path segment, `*` any rest.
 */
export const apiDocumentOperations = [
  // Certificate and licence endpoints
  'GET POST DELETE /certificates/activation',
  'GET POST /certificates',
  'GET DELETE /certificates/<file>',
  'GET /certificates/<file>/info',

  // Farm creation
  'POST /farms',

  // RBAC user password change
  'GET POST /system/users',

  // Other endpoints: farms
  'GET /farms/modules/summary',
  'GET POST PUT DELETE /farms/<farmname>/ipds/waf/*',
  'POST /farms/<farm>/certificates/<cert>/actions',
  'GET PUT /farms/<farmname>',
  'GET PUT /farms/<farmname>/services/<id>',
  'GET POST PUT DELETE /farms/<l4farm>',
  'POST /farms/<farmname>/addresponseheader',
  'POST /farms/<farmname>/removeresponseheader',
  'DELETE /farms/<farmname>/addresponseheader/<n>',
  'DELETE /farms/<farmname>/removeresponseheader/<n>',
  'POST DELETE /farms/<farmname>/service/<servicename>/rewriteurl/*',
  'POST DELETE /farms/<farmname>/replacerequestheader/*',
  'POST DELETE /farms/<farmname>/replaceresponseheader/*',
  'GET POST DELETE /farms/<farmname>/services/<servicename>/sessions/*',
  'GET POST /farms/<farmname>/sessions',
  'DELETE /farms/<farmname>/sessions/<session>',
  'GET /ids',

  // Other endpoints: network and health checks
  'PUT /interfaces/nic/<if>',
  'PUT /interfaces/bonding/<if>',
  'POST /interfaces/vlan',
  'PUT /interfaces/vlan/<if>',
  'GET POST PUT DELETE /routing/*',
  'POST PUT /monitoring/fg',
  'GET /monitoring/fg/<name>',
  'GET PUT /monitoring/fg*/<farmguardian>',

  // Other endpoints: intrusion prevention and VPN
  'GET /ipds/package',
  'POST /ipds/package/actions',
  'GET POST PUT DELETE /ipds/waf/*',
  'POST /ipds/waf/<name>',
  'GET PUT DELETE /ipds/waf/files',
  'GET POST PUT DELETE /vpns/*',

  // Other endpoints: system, statistics and RBAC
  'GET /system/info',
  'GET POST /system/global',
  'POST /system/factory',
  'GET POST /system/proxy',
  'GET /system/packages',
  'POST /system/ssh',
  'POST /system/http',
  'GET POST /system/https/certificate',
  'GET POST DELETE /system/rsyslog',
  'GET PUT /system/cluster',
  'GET /stats/farms/<farmname>',
  'GET POST /rbac/users',
  'GET PUT /rbac/users/<user>',
  'GET POST /rbac/services',
  'GET POST /rbac/ldap*',
  'GET /rbac/menus',
  'PUT /rbac/roles/<ROLE>',
].flatMap((line) => {
  const [verbs = '', path] = line.split(' /');
  return verbs.split(' ').map((verb): Route => `${verb as Method} /${path}`);
});

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
