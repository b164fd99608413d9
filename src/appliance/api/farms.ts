import {
  FarmBackendListReply,
  FarmListReply,
  FarmReply,
  FarmStatusReply,
  FarmsSummaryReply,
  ServiceReply,
} from '../schemas.ts';
import { type ReadSideEffect, area, type WriteSideEffect, row } from './row.ts';

/** Reads that ask the daemon of L4 farms, nftlb, for the sessions of a farm with persistence. */
export const asksL4Daemon = {
  on: 'l4xnat',
  risk: 'reversible',
  does: 'starts the daemon of L4 farms, which deletes the rules of all of them, or starts a stopped farm',
  when: 'the farm has persistence, and the daemon is dead or the farm stopped; with a daemon that hangs it never ends, and leaves a process',
  source: 'measured',
} as const satisfies ReadSideEffect;

const mayAskL4Daemon = { ...asksL4Daemon, source: 'not checked, assumed' } as const satisfies ReadSideEffect;

/**
 * Writes that start or stop an HTTP farm: with zproxy each farm has a rule of its own in nftlb, the
 * daemon of L4 farms (docs/api.md §4.8). For an L4 farm they reach it on all products.
 */
const reachesL4Daemon = {
  with: 'zproxy',
  does: 'starts the daemon of L4 farms without their rules, so that all of them refuse their clients and keep their state words',
  when: 'the daemon has died; with a daemon that hangs, the farm is stopped, and not started before the daemon goes on',
  source: 'measured',
} as const satisfies WriteSideEffect;

const alsoReachesL4Daemon = { ...reachesL4Daemon, source: 'same code as one that was measured' } as const satisfies WriteSideEffect;
const mayReachL4Daemon = { ...reachesL4Daemon, source: 'not checked, assumed' } as const satisfies WriteSideEffect;

/** Farms (docs/api.md §3.7-3.10 and §4.1). */
export const farmsEndpoints = area('farms', {
  listFarms:        row('GET /farms',                    'read',        '4.0', 'list farms with status', { reply: FarmListReply, maxValues: 100_000, maxProxyWaitMs: 65_000 }),
  createFarm:       row('POST /farms',                   'reversible',  '4.0', 'create or copy a farm', { writeSideEffect: alsoReachesL4Daemon }),
  readFarmsSummary: row('GET /farms/modules/summary',    'read',        '4.0', 'farm names by module with HTTP and GSLB services', { reply: FarmsSummaryReply, maxValues: 100_000 }),
  listLslbFarms:    row('GET /farms/modules/lslb',       'read',        '4.0', 'list HTTP and L4xNAT farms'),
  listDslbFarms:    row('GET /farms/modules/dslb',       'read',        '4.0', 'list datalink farms'),
  listGslbFarms:    row('GET /farms/modules/gslb',       'read',        null,  'list GSLB farms (Enterprise, inferred from the module names)'),
  readFarm:         row('GET /farms/{farmname}',         'read',        '4.0', 'one farm in full', { reply: FarmReply, maxProxyWaitMs: 65_000, readSideEffect: asksL4Daemon }),
  updateFarm:       row('PUT /farms/{farmname}',         'disruptive',  '4.0', 'modify a farm, L4xNAT changes apply at once'),
  // Nobody knows what it does, so it is not promised to be reversible.
  postToFarm:       row('POST /farms/{farmname}',        'disruptive',  '4.0', 'listed for L4xNAT farms by the version notes, no known route'),
  deleteFarm:       row('DELETE /farms/{farmname}',      'destructive', '4.0', 'stop and delete a farm', { writeSideEffect: alsoReachesL4Daemon }),
  readFarmStatus:   row('GET /farms/{farmname}/status',  'read',        null,  'status word of one farm', { reply: FarmStatusReply, maxProxyWaitMs: 30_000 }),
  readFarmSettings: row('GET /farms/{farmname}/summary', 'read',        '4.0', 'farm settings with service ids only', { readSideEffect: asksL4Daemon }),
  actOnFarm:        row('PUT /farms/{farmname}/actions', 'reversible',  '4.0', 'start, stop or restart a farm', { writeSideEffect: reachesL4Daemon }),
});

/**
 * Certificates of HTTPS farms; a running farm takes a change at its next restart (docs/api.md
 * §4.1).
 */
export const farmCertificatesEndpoints = area('farm-certificates', {
  addFarmCertificate:    row('POST /farms/{farmname}/certificates',                       'reversible',  '4.0', 'add (CE: replace) the certificate of an HTTPS farm'),
  removeFarmCertificate: row('DELETE /farms/{farmname}/certificates/{certificate}',       'destructive', '4.0', 'remove a certificate from an HTTPS farm (Enterprise)'),
  moveFarmCertificate:   row('POST /farms/{farmname}/certificates/{certificate}/actions', 'reversible',  '4.0', 'move a certificate in the SNI list (Enterprise)'),
});

/** Services of HTTP and GSLB farms (docs/api.md §3.10 and §4.2). */
export const farmServicesEndpoints = area('farm-services', {
  createService: row('POST /farms/{farmname}/services',                   'reversible',  '4.0', 'create a service in an HTTP or GSLB farm'),
  readService:   row('GET /farms/{farmname}/services/{service}',          'read',        '4.0', 'one service with backends', { reply: ServiceReply, maxProxyWaitMs: 30_000 }),
  updateService: row('PUT /farms/{farmname}/services/{service}',          'disruptive',  '4.0', 'modify a service, a redirect deletes its backends'),
  deleteService: row('DELETE /farms/{farmname}/services/{service}',       'destructive', '4.0', 'delete a service and its backends'),
  moveService:   row('POST /farms/{farmname}/services/{service}/actions', 'disruptive',  null,  'move a service in the evaluation order, restarts a running farm (Enterprise)', { writeSideEffect: mayReachL4Daemon }),
});

/**
 * Backends: L4xNAT and datalink farms take a change at once, HTTP farms when they restart
 * (docs/api.md §4.2 and §5.2).
 */
export const farmBackendsEndpoints = area('farm-backends', {
  listFarmBackends:             row('GET /farms/{farmname}/backends',                                          'read',        '4.0', 'list backends of an L4xNAT or datalink farm', { reply: FarmBackendListReply }),
  addFarmBackend:               row('POST /farms/{farmname}/backends',                                         'reversible',  '4.0', 'add a backend to an L4xNAT or datalink farm'),
  // Moves live traffic to another address at once.
  updateFarmBackend:            row('PUT /farms/{farmname}/backends/{backend}',                                'disruptive',  '4.0', 'modify a backend, applies at once'),
  deleteFarmBackend:            row('DELETE /farms/{farmname}/backends/{backend}',                             'destructive', '4.0', 'delete a backend and flush its connections'),
  setFarmBackendMaintenance:    row('PUT /farms/{farmname}/backends/{backend}/maintenance',                    'reversible',  '4.0', 'drain, cut or re-enable an L4xNAT backend'),
  listServiceBackends:          row('GET /farms/{farmname}/services/{service}/backends',                       'read',        '4.0', 'list backends of a service'),
  addServiceBackend:            row('POST /farms/{farmname}/services/{service}/backends',                      'reversible',  '4.0', 'add a backend to a service'),
  updateServiceBackend:         row('PUT /farms/{farmname}/services/{service}/backends/{backend}',             'reversible',  '4.0', 'modify a backend of a service'),
  deleteServiceBackend:         row('DELETE /farms/{farmname}/services/{service}/backends/{backend}',          'destructive', '4.0', 'delete a backend of a service, renumbers the rest'),
  setServiceBackendMaintenance: row('PUT /farms/{farmname}/services/{service}/backends/{backend}/maintenance', 'reversible',  '4.0', 'drain, cut or re-enable an HTTP backend'),
});

/**
 * Header rules of HTTP farms; a running farm takes a change at its next restart (docs/api.md §4.3).
 */
export const farmHeadersEndpoints = area('farm-headers', {
  addRequestHeader:                row('POST /farms/{farmname}/addheader',                             'reversible',  null,    'add a request header'),
  updateRequestHeader:             row('PUT /farms/{farmname}/addheader/{index}',                      'reversible',  null,    'modify an added request header'),
  deleteRequestHeader:             row('DELETE /farms/{farmname}/addheader/{index}',                   'destructive', null,    'delete an added request header'),
  addRequestHeaderRemoval:         row('POST /farms/{farmname}/headremove',                            'reversible',  null,    'remove request headers by pattern'),
  updateRequestHeaderRemoval:      row('PUT /farms/{farmname}/headremove/{index}',                     'reversible',  null,    'modify a request header removal'),
  deleteRequestHeaderRemoval:      row('DELETE /farms/{farmname}/headremove/{index}',                  'destructive', null,    'delete a request header removal'),
  addResponseHeader:               row('POST /farms/{farmname}/addresponseheader',                     'reversible',  '4.0.1', 'add a response header'),
  updateResponseHeader:            row('PUT /farms/{farmname}/addresponseheader/{index}',              'reversible',  null,    'modify an added response header'),
  deleteResponseHeader:            row('DELETE /farms/{farmname}/addresponseheader/{index}',           'destructive', '4.0.1', 'delete an added response header'),
  addResponseHeaderRemoval:        row('POST /farms/{farmname}/removeresponseheader',                  'reversible',  '4.0.1', 'remove response headers by pattern'),
  updateResponseHeaderRemoval:     row('PUT /farms/{farmname}/removeresponseheader/{index}',           'reversible',  null,    'modify a response header removal'),
  deleteResponseHeaderRemoval:     row('DELETE /farms/{farmname}/removeresponseheader/{index}',        'destructive', '4.0.1', 'delete a response header removal'),
  addRequestHeaderRewrite:         row('POST /farms/{farmname}/replacerequestheader',                  'reversible',  '4.0.2', 'add a request header rewrite rule'),
  updateRequestHeaderRewrite:      row('PUT /farms/{farmname}/replacerequestheader/{index}',           'reversible',  '4.0.2', 'modify a request header rewrite rule'),
  deleteRequestHeaderRewrite:      row('DELETE /farms/{farmname}/replacerequestheader/{index}',        'destructive', '4.0.2', 'delete a request header rewrite rule'),
  moveRequestHeaderRewrite:        row('POST /farms/{farmname}/replacerequestheader/{index}/actions',  'reversible',  '4.0.2', 'move a request header rewrite rule'),
  addRequestHeaderRewritePath:     row('POST /farms/{farmname}/replacerequestheader/{path*}',          'reversible',  '4.0.2', 'wildcard as stated for the request header rewrite family'),
  deleteRequestHeaderRewritePath:  row('DELETE /farms/{farmname}/replacerequestheader/{path*}',        'destructive', '4.0.2', 'wildcard as stated for the request header rewrite family'),
  addResponseHeaderRewrite:        row('POST /farms/{farmname}/replaceresponseheader',                 'reversible',  '4.0.2', 'add a response header rewrite rule'),
  updateResponseHeaderRewrite:     row('PUT /farms/{farmname}/replaceresponseheader/{index}',          'reversible',  '4.0.2', 'modify a response header rewrite rule'),
  deleteResponseHeaderRewrite:     row('DELETE /farms/{farmname}/replaceresponseheader/{index}',       'destructive', '4.0.2', 'delete a response header rewrite rule'),
  moveResponseHeaderRewrite:       row('POST /farms/{farmname}/replaceresponseheader/{index}/actions', 'reversible',  '4.0.2', 'move a response header rewrite rule'),
  addResponseHeaderRewritePath:    row('POST /farms/{farmname}/replaceresponseheader/{path*}',         'reversible',  '4.0.2', 'wildcard as stated for the response header rewrite family'),
  deleteResponseHeaderRewritePath: row('DELETE /farms/{farmname}/replaceresponseheader/{path*}',       'destructive', '4.0.2', 'wildcard as stated for the response header rewrite family'),
});

/**
 * URL rewrite rules of HTTP farms; a running farm takes a change at its next restart (docs/api.md
 * §4.3).
 */
export const farmRewriteurlEndpoints = area('farm-rewriteurl', {
  addUrlRewrite:        row('POST /farms/{farmname}/service/{service}/rewriteurl',                 'reversible',  '4.0.2', 'add a URL rewrite rule (singular path word)'),
  moveUrlRewrite:       row('POST /farms/{farmname}/service/{service}/rewriteurl/{index}/actions', 'reversible',  '4.0.2', 'move a URL rewrite rule'),
  deleteUrlRewrite:     row('DELETE /farms/{farmname}/service/{service}/rewriteurl/{index}',       'destructive', '4.0.2', 'delete a URL rewrite rule'),
  addUrlRewritePath:    row('POST /farms/{farmname}/service/{service}/rewriteurl/{path*}',         'reversible',  '4.0.2', 'wildcard as stated (ADD)'),
  deleteUrlRewritePath: row('DELETE /farms/{farmname}/service/{service}/rewriteurl/{path*}',       'destructive', '4.0.2', 'wildcard as stated (DELETE)'),
});

/**
 * Persistence sessions: dynamic ones can be read, static ones added and deleted.
 */
export const farmSessionsEndpoints = area('farm-sessions', {
  listFarmSessions:         row('GET /farms/{farmname}/sessions',                                 'read',        '4.0.1', 'list L4xNAT sessions (Enterprise)', { readSideEffect: mayAskL4Daemon }),
  addFarmSession:           row('POST /farms/{farmname}/sessions',                                'reversible',  '4.0.1', 'add a static L4xNAT session (Enterprise)'),
  deleteFarmSession:        row('DELETE /farms/{farmname}/sessions/{session}',                    'destructive', '4.0.1', 'delete a static L4xNAT session (Enterprise)'),
  listServiceSessions:      row('GET /farms/{farmname}/services/{service}/sessions',              'read',        '4.0.2', 'list static HTTP sessions (Enterprise, new proxy)'),
  addServiceSession:        row('POST /farms/{farmname}/services/{service}/sessions',             'reversible',  '4.0.2', 'add a static HTTP session (Enterprise, new proxy)'),
  deleteServiceSession:     row('DELETE /farms/{farmname}/services/{service}/sessions/{session}', 'destructive', '4.0.2', 'delete a static HTTP session (Enterprise, new proxy)'),
  readServiceSessionPath:   row('GET /farms/{farmname}/services/{service}/sessions/{path*}',      'read',        '4.0.2', 'wildcard as stated for static HTTP sessions'),
  addServiceSessionPath:    row('POST /farms/{farmname}/services/{service}/sessions/{path*}',     'reversible',  '4.0.2', 'wildcard as stated for static HTTP sessions'),
  deleteServiceSessionPath: row('DELETE /farms/{farmname}/services/{service}/sessions/{path*}',   'destructive', '4.0.2', 'wildcard as stated for static HTTP sessions'),
});

/** The health checks of farms and services (docs/api.md §4.5). */
export const farmFarmguardianEndpoints = area('farm-farmguardian', {
  // A check that does not fit takes every backend down.
  linkFarmguardianToFarm:        row('POST /farms/{farmname}/fg',                           'disruptive',  '4.0', 'link a health check to an L4xNAT farm'),
  unlinkFarmguardianFromFarm:    row('DELETE /farms/{farmname}/fg/{fg}',                    'destructive', '4.0', 'unlink a health check from an L4xNAT farm'),
  linkFarmguardianToService:     row('POST /farms/{farmname}/services/{service}/fg',        'disruptive',  '4.0', 'link a health check to a service'),
  unlinkFarmguardianFromService: row('DELETE /farms/{farmname}/services/{service}/fg/{fg}', 'destructive', '4.0', 'unlink a health check from a service'),
});

export const farmZonesEndpoints = area('farm-zones', {
  createZone:         row('POST /farms/{farmname}/zones',                               'reversible',  null, 'create a GSLB zone (Enterprise)'),
  // Changes the answers for clients at once.
  updateZone:         row('PUT /farms/{farmname}/zones/{zone}',                         'disruptive',  null, 'modify a GSLB zone (Enterprise)'),
  deleteZone:         row('DELETE /farms/{farmname}/zones/{zone}',                      'destructive', null, 'delete a GSLB zone (Enterprise)'),
  listZoneResources:  row('GET /farms/{farmname}/zones/{zone}/resources',               'read',        null, 'list resources of a GSLB zone (Enterprise)'),
  addZoneResource:    row('POST /farms/{farmname}/zones/{zone}/resources',              'reversible',  null, 'add a GSLB zone resource (Enterprise)'),
  updateZoneResource: row('PUT /farms/{farmname}/zones/{zone}/resources/{resource}',    'disruptive',  null, 'modify a GSLB zone resource (Enterprise)'),
  deleteZoneResource: row('DELETE /farms/{farmname}/zones/{zone}/resources/{resource}', 'destructive', null, 'delete a GSLB zone resource (Enterprise)'),
});

/** The protection rules of farms (docs/api.md §6). */
export const farmIpdsEndpoints = area('farm-ipds', {
  // A rule drops traffic of the farm from the moment it is applied.
  applyBlacklistToFarm:    row('POST /farms/{farmname}/ipds/blacklists',          'disruptive',  null,  'apply a blacklist to a farm (Enterprise)'),
  removeBlacklistFromFarm: row('DELETE /farms/{farmname}/ipds/blacklists/{name}', 'destructive', null,  'remove a blacklist from a farm (Enterprise)'),
  applyDosRuleToFarm:      row('POST /farms/{farmname}/ipds/dos',                 'disruptive',  null,  'apply a DoS rule to a farm (Enterprise)'),
  removeDosRuleFromFarm:   row('DELETE /farms/{farmname}/ipds/dos/{name}',        'destructive', null,  'remove a DoS rule from a farm (Enterprise)'),
  applyRblRuleToFarm:      row('POST /farms/{farmname}/ipds/rbl',                 'disruptive',  null,  'apply a RBL rule to a farm (Enterprise)'),
  removeRblRuleFromFarm:   row('DELETE /farms/{farmname}/ipds/rbl/{name}',        'destructive', null,  'remove a RBL rule from a farm (Enterprise)'),
  applyWafSetToFarm:       row('POST /farms/{farmname}/ipds/waf',                 'disruptive',  '4.0', 'apply a WAF set to an HTTP farm'),
  removeWafSetFromFarm:    row('DELETE /farms/{farmname}/ipds/waf/{set}',         'destructive', '4.0', 'remove a WAF set from an HTTP farm'),
  moveWafSetOfFarm:        row('POST /farms/{farmname}/ipds/waf/{set}/actions',   'disruptive',  '4.0', 'move a WAF set in the farm order'),
  readFarmWafPath:         row('GET /farms/{farmname}/ipds/waf/{path*}',          'read',        '4.0', 'wildcard as stated for farm WAF links'),
  createFarmWafPath:       row('POST /farms/{farmname}/ipds/waf/{path*}',         'disruptive',  '4.0', 'wildcard as stated for farm WAF links'),
  updateFarmWafPath:       row('PUT /farms/{farmname}/ipds/waf/{path*}',          'disruptive',  '4.0', 'wildcard as stated for farm WAF links'),
  deleteFarmWafPath:       row('DELETE /farms/{farmname}/ipds/waf/{path*}',       'destructive', '4.0', 'wildcard as stated for farm WAF links'),
});
