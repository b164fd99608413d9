import { area, row } from './row.ts';

/**
 * Users, groups, roles and LDAP; a caller who may change them can get any right (docs/api.md §6).
 */
export const rbacEndpoints = area('rbac', {
  listRbacUsers:              row('GET /rbac/users',                                    'secret',      '4.0',   'list RBAC users (Enterprise)'),
  createRbacUser:             row('POST /rbac/users',                                   'disruptive',  '4.0',   'create an RBAC user (Enterprise)'),
  readRbacUser:               row('GET /rbac/users/{user}',                             'secret',      '4.0',   'one RBAC user (Enterprise)'),
  updateRbacUser:             row('PUT /rbac/users/{user}',                             'disruptive',  '4.0',   'modify an RBAC user (Enterprise)'),
  deleteRbacUser:             row('DELETE /rbac/users/{user}',                          'destructive', null,    'delete an RBAC user (Enterprise)'),
  listRbacGroups:             row('GET /rbac/groups',                                   'secret',      null,    'list RBAC groups (Enterprise)'),
  createRbacGroup:            row('POST /rbac/groups',                                  'disruptive',  null,    'create an RBAC group (Enterprise)'),
  readRbacGroup:              row('GET /rbac/groups/{group}',                           'secret',      null,    'one RBAC group (Enterprise)'),
  updateRbacGroup:            row('PUT /rbac/groups/{group}',                           'disruptive',  null,    'modify an RBAC group (Enterprise)'),
  deleteRbacGroup:            row('DELETE /rbac/groups/{group}',                        'destructive', null,    'delete an RBAC group (Enterprise)'),
  addRbacGroupUser:           row('POST /rbac/groups/{group}/users',                    'disruptive',  null,    'add a user to an RBAC group (Enterprise)'),
  removeRbacGroupUser:        row('DELETE /rbac/groups/{group}/users/{user}',           'destructive', null,    'remove a user from an RBAC group (Enterprise)'),
  addRbacGroupFarm:           row('POST /rbac/groups/{group}/farms',                    'disruptive',  null,    'add a farm to an RBAC group (Enterprise)'),
  removeRbacGroupFarm:        row('DELETE /rbac/groups/{group}/farms/{farm}',           'destructive', null,    'remove a farm from an RBAC group (Enterprise)'),
  addRbacGroupInterface:      row('POST /rbac/groups/{group}/interfaces',               'disruptive',  null,    'add a interface to an RBAC group (Enterprise)'),
  removeRbacGroupInterface:   row('DELETE /rbac/groups/{group}/interfaces/{interface}', 'destructive', null,    'remove a interface from an RBAC group (Enterprise)'),
  listRbacRoles:              row('GET /rbac/roles',                                    'secret',      null,    'list RBAC roles (Enterprise)'),
  createRbacRole:             row('POST /rbac/roles',                                   'disruptive',  null,    'create an RBAC role (Enterprise)'),
  readRbacRole:               row('GET /rbac/roles/{role}',                             'secret',      null,    'one RBAC role (Enterprise)'),
  updateRbacRole:             row('PUT /rbac/roles/{role}',                             'disruptive',  '4.0',   'modify an RBAC role (Enterprise)'),
  deleteRbacRole:             row('DELETE /rbac/roles/{role}',                          'destructive', null,    'delete an RBAC role (Enterprise)'),
  readRbacMenus:              row('GET /rbac/menus',                                    'secret',      '4.0',   'menu permissions of the caller (Enterprise)'),
  readAuthenticationServices: row('GET /rbac/services',                                 'secret',      '4.0.1', 'authentication services (Enterprise)'),
  setAuthenticationServices:  row('POST /rbac/services',                                'disruptive',  '4.0.1', 'switch authentication services (Enterprise)'),
  readLdap:                   row('GET /rbac/ldap',                                     'secret',      '4.0.1', 'LDAP settings (Enterprise)'),
  setLdap:                    row('POST /rbac/ldap',                                    'disruptive',  '4.0.1', 'set LDAP (Enterprise)'),
  deleteLdap:                 row('DELETE /rbac/ldap',                                  'destructive', '4.0.1', 'remove the LDAP settings (Enterprise)'),
  testLdap:                   row('POST /rbac/ldap/actions',                            'reversible',  '4.0.1', 'test the LDAP connection (Enterprise)'),
  readLdapPath:               row('GET /rbac/ldap{path*}',                              'secret',      '4.0.1', 'wildcard as stated for LDAP settings'),
  setLdapPath:                row('POST /rbac/ldap{path*}',                             'disruptive',  '4.0.1', 'wildcard as stated for LDAP settings'),
});
