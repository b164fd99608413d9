import { IpdsListReply } from '../schemas.ts';
import { area, row } from './row.ts';

/** Intrusion prevention as a whole (docs/api.md §6). */
export const ipdsEndpoints = area('ipds', {
  listIpds:         row('GET /ipds',                  'read',       null,  'list all IPDS rules with status', { reply: IpdsListReply }),
  readIpdsPackage:  row('GET /ipds/package',          'read',       '4.0', 'IPDS package state (Enterprise)'),
  actOnIpdsPackage: row('POST /ipds/package/actions', 'disruptive', '4.0', 'upgrade the IPDS package (Enterprise)'),
});

/** Blacklists: a running one drops the traffic of its addresses at once (docs/api.md §6). */
export const ipdsBlacklistsEndpoints = area('ipds-blacklists', {
  listBlacklists:        row('GET /ipds/blacklists',                            'read',        null, 'list blacklists (Enterprise)'),
  createBlacklist:       row('POST /ipds/blacklists',                           'reversible',  null, 'create a blacklist (Enterprise)'),
  readBlacklist:         row('GET /ipds/blacklists/{name}',                     'read',        null, 'one blacklist (Enterprise)'),
  updateBlacklist:       row('PUT /ipds/blacklists/{name}',                     'disruptive',  null, 'modify a blacklist (Enterprise)'),
  deleteBlacklist:       row('DELETE /ipds/blacklists/{name}',                  'destructive', null, 'delete a blacklist (Enterprise)'),
  actOnBlacklist:        row('POST /ipds/blacklists/{name}/actions',            'disruptive',  null, 'start, stop or update a blacklist (Enterprise)'),
  listBlacklistSources:  row('GET /ipds/blacklists/{name}/sources',             'read',        null, 'list sources of a blacklist (Enterprise)'),
  addBlacklistSources:   row('POST /ipds/blacklists/{name}/sources',            'disruptive',  null, 'add sources to a blacklist (Enterprise)'),
  updateBlacklistSource: row('PUT /ipds/blacklists/{name}/sources/{source}',    'disruptive',  null, 'modify a blacklist source (Enterprise)'),
  deleteBlacklistSource: row('DELETE /ipds/blacklists/{name}/sources/{source}', 'destructive', null, 'delete a blacklist source (Enterprise)'),
});

/** Denial-of-service rules (docs/api.md §6). */
export const ipdsDosEndpoints = area('ipds-dos', {
  listDosRules:     row('GET /ipds/dos',                 'read',        null, 'list DoS rules (Enterprise)'),
  createDosRule:    row('POST /ipds/dos',                'reversible',  null, 'create a DoS rule (Enterprise)'),
  listDosRuleKinds: row('GET /ipds/dos/rules',           'read',        null, 'kinds of DoS rules (Enterprise)'),
  readDosRule:      row('GET /ipds/dos/{name}',          'read',        null, 'one DoS rule (Enterprise)'),
  updateDosRule:    row('PUT /ipds/dos/{name}',          'disruptive',  null, 'modify a DoS rule (Enterprise)'),
  deleteDosRule:    row('DELETE /ipds/dos/{name}',       'destructive', null, 'delete a DoS rule (Enterprise)'),
  actOnDosRule:     row('POST /ipds/dos/{name}/actions', 'disruptive',  null, 'start or stop a DoS rule (Enterprise)'),
});

/** Rules on real-time blackhole lists (docs/api.md §6). */
export const ipdsRblEndpoints = area('ipds-rbl', {
  listRblRules:        row('GET /ipds/rbl',                            'read',        null, 'list RBL rules (Enterprise)'),
  createRblRule:       row('POST /ipds/rbl',                           'reversible',  null, 'create or copy an RBL rule (Enterprise)'),
  readRblRule:         row('GET /ipds/rbl/{name}',                     'read',        null, 'one RBL rule (Enterprise)'),
  updateRblRule:       row('PUT /ipds/rbl/{name}',                     'disruptive',  null, 'modify an RBL rule (Enterprise)'),
  deleteRblRule:       row('DELETE /ipds/rbl/{name}',                  'destructive', null, 'delete an RBL rule (Enterprise)'),
  copyRblRule:         row('POST /ipds/rbl/{name}',                    'disruptive',  null, 'removed in 4.0, listed so that clients never call it'),
  actOnRblRule:        row('POST /ipds/rbl/{name}/actions',            'disruptive',  null, 'start or stop an RBL rule (Enterprise)'),
  addRblRuleDomain:    row('POST /ipds/rbl/{name}/domains',            'disruptive',  null, 'add a domain to an RBL rule (Enterprise)'),
  removeRblRuleDomain: row('DELETE /ipds/rbl/{name}/domains/{domain}', 'destructive', null, 'remove a domain from an RBL rule (Enterprise)'),
  listRblDomains:      row('GET /ipds/rbl/domains',                    'read',        null, 'list RBL domains (Enterprise)'),
  addRblDomain:        row('POST /ipds/rbl/domains',                   'reversible',  null, 'add a user RBL domain (Enterprise)'),
  updateRblDomain:     row('PUT /ipds/rbl/domains/{domain}',           'disruptive',  null, 'modify a user RBL domain (Enterprise)'),
  deleteRblDomain:     row('DELETE /ipds/rbl/domains/{domain}',        'destructive', null, 'delete a user RBL domain (Enterprise)'),
});

/**
 * Web application firewall; a change of a running set can start to deny requests (docs/api.md §6).
 */
export const ipdsWafEndpoints = area('ipds-waf', {
  readWafPath:          row('GET /ipds/waf/{path*}',                               'read',        '4.0',   'wildcard as stated for WAF sets'),
  createWafPath:        row('POST /ipds/waf/{path*}',                              'disruptive',  '4.0',   'wildcard as stated for WAF sets'),
  updateWafPath:        row('PUT /ipds/waf/{path*}',                               'disruptive',  '4.0',   'wildcard as stated for WAF sets'),
  deleteWafPath:        row('DELETE /ipds/waf/{path*}',                            'destructive', '4.0',   'wildcard as stated for WAF sets'),
  listWafSets:          row('GET /ipds/waf',                                       'read',        '4.0',   'list WAF sets'),
  createWafSet:         row('POST /ipds/waf',                                      'reversible',  '4.0',   'create or copy a WAF set (Enterprise)'),
  readWafSet:           row('GET /ipds/waf/{set}',                                 'read',        '4.0',   'one WAF set'),
  updateWafSet:         row('PUT /ipds/waf/{set}',                                 'disruptive',  '4.0',   'modify a WAF set'),
  copyWafSet:           row('POST /ipds/waf/{set}',                                'disruptive',  '4.0',   'listed by the version notes for WAF sets'),
  deleteWafSet:         row('DELETE /ipds/waf/{set}',                              'destructive', '4.0',   'delete a WAF set (Enterprise)'),
  readWafOptions:       row('GET /ipds/waf/options',                               'read',        null,    'operators, variables and transformations for WAF rules (Enterprise)'),
  actOnWafSet:          row('POST /ipds/waf/{set}/actions',                        'disruptive',  '4.0',   'start, stop, restart or restore a WAF set'),
  readWafRule:          row('GET /ipds/waf/{set}/rules/{rule}',                    'read',        '4.0',   'one WAF rule (Enterprise)'),
  addWafRule:           row('POST /ipds/waf/{set}/rules',                          'disruptive',  '4.0',   'add a WAF rule (Enterprise)'),
  updateWafRule:        row('PUT /ipds/waf/{set}/rules/{rule}',                    'disruptive',  '4.0',   'modify a WAF rule (Enterprise)'),
  deleteWafRule:        row('DELETE /ipds/waf/{set}/rules/{rule}',                 'destructive', '4.0',   'delete a WAF rule (Enterprise)'),
  moveWafRule:          row('POST /ipds/waf/{set}/rules/{rule}/actions',           'disruptive',  '4.0',   'move a WAF rule (Enterprise)'),
  addWafMatch:          row('POST /ipds/waf/{set}/rules/{rule}/matches',           'disruptive',  '4.0',   'add a match to a WAF rule (Enterprise)'),
  updateWafMatch:       row('PUT /ipds/waf/{set}/rules/{rule}/matches/{match}',    'disruptive',  '4.0',   'modify a WAF match (Enterprise)'),
  deleteWafMatch:       row('DELETE /ipds/waf/{set}/rules/{rule}/matches/{match}', 'destructive', '4.0',   'delete a WAF match (Enterprise)'),
  listWafFiles:         row('GET /ipds/waf/files',                                 'read',        '4.0.1', 'list WAF files'),
  saveUnnamedWafFile:   row('PUT /ipds/waf/files',                                 'disruptive',  '4.0.1', 'listed by the version notes without a file name'),
  deleteUnnamedWafFile: row('DELETE /ipds/waf/files',                              'destructive', '4.0.1', 'listed by the version notes without a file name'),
  readWafFile:          row('GET /ipds/waf/files/{file}',                          'read',        '4.0.1', 'content of a WAF file'),
  // Replaces a file for good, and a script runs on the appliance.
  saveWafFile:          row('PUT /ipds/waf/files/{file}',                          'disruptive',  '4.0.1', 'create or replace a WAF file'),
  uploadWafFile:        row('POST /ipds/waf/files/{file}',                         'disruptive',  null,    'upload a WAF file (extension selects the type)', { body: 'text' }),
  deleteWafFile:        row('DELETE /ipds/waf/files/{file}',                       'destructive', '4.0.1', 'delete a WAF file'),
});
