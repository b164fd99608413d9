import { InterfaceListReply, VpnListReply } from '../schemas.ts';
import { area, row } from './row.ts';

/** Network interfaces and default gateways (docs/api.md §3.13 and §4.6). */
export const interfacesEndpoints = area('interfaces', {
  listInterfaces:         row('GET /interfaces',                                  'read',        '4.0', 'list all interfaces', { reply: InterfaceListReply, maxValues: 100_000 }),
  listNics:               row('GET /interfaces/nic',                              'read',        '4.0', 'list nic interfaces'),
  readNic:                row('GET /interfaces/nic/{name}',                       'read',        '4.0', 'one nic interface'),
  updateNic:              row('PUT /interfaces/nic/{name}',                       'disruptive',  '4.0', 'modify a nic interface, may move farms and VPNs'),
  unconfigureNic:         row('DELETE /interfaces/nic/{name}',                    'destructive', '4.0', 'unconfigure a nic interface'),
  actOnNic:               row('POST /interfaces/nic/{name}/actions',              'disruptive',  '4.0', 'set a nic interface up or down'),
  listVlans:              row('GET /interfaces/vlan',                             'read',        '4.0', 'list vlan interfaces'),
  readVlan:               row('GET /interfaces/vlan/{name}',                      'read',        '4.0', 'one vlan interface'),
  createVlan:             row('POST /interfaces/vlan',                            'reversible',  '4.0', 'create a vlan interface'),
  updateVlan:             row('PUT /interfaces/vlan/{name}',                      'disruptive',  '4.0', 'modify a vlan interface, may move farms and VPNs'),
  deleteVlan:             row('DELETE /interfaces/vlan/{name}',                   'destructive', '4.0', 'delete a vlan interface'),
  actOnVlan:              row('POST /interfaces/vlan/{name}/actions',             'disruptive',  '4.0', 'set a vlan interface up or down'),
  listVirtualInterfaces:  row('GET /interfaces/virtual',                          'read',        '4.0', 'list virtual interfaces', { reply: InterfaceListReply, maxValues: 100_000 }),
  readVirtualInterface:   row('GET /interfaces/virtual/{name}',                   'read',        '4.0', 'one virtual interface'),
  createVirtualInterface: row('POST /interfaces/virtual',                         'reversible',  '4.0', 'create a virtual interface'),
  updateVirtualInterface: row('PUT /interfaces/virtual/{name}',                   'disruptive',  '4.0', 'modify a virtual interface, may move farms and VPNs'),
  deleteVirtualInterface: row('DELETE /interfaces/virtual/{name}',                'destructive', '4.0', 'delete a virtual interface'),
  actOnVirtualInterface:  row('POST /interfaces/virtual/{name}/actions',          'disruptive',  '4.0', 'set a virtual interface up or down'),
  listBondings:           row('GET /interfaces/bonding',                          'read',        null,  'list bonding interfaces (Enterprise)'),
  createBonding:          row('POST /interfaces/bonding',                         'reversible',  null,  'create a bonding interface (Enterprise)'),
  readBonding:            row('GET /interfaces/bonding/{name}',                   'read',        null,  'one bonding interface (Enterprise)'),
  updateBonding:          row('PUT /interfaces/bonding/{name}',                   'disruptive',  '4.0', 'modify a bonding interface (Enterprise)'),
  unconfigureBonding:     row('DELETE /interfaces/bonding/{name}',                'destructive', null,  'unconfigure a bonding interface (Enterprise)'),
  actOnBonding:           row('POST /interfaces/bonding/{name}/actions',          'disruptive',  null,  'up, down or destroy a bonding interface (Enterprise)'),
  addBondingSlave:        row('POST /interfaces/bonding/{name}/slaves',           'disruptive',  null,  'add a slave NIC to a bonding (Enterprise)'),
  removeBondingSlave:     row('DELETE /interfaces/bonding/{name}/slaves/{slave}', 'destructive', null,  'remove a slave NIC from a bonding (Enterprise)'),
  listFloatingIps:        row('GET /interfaces/floating',                         'read',        null,  'list floating IP settings (Enterprise)'),
  readFloatingIp:         row('GET /interfaces/floating/{name}',                  'read',        null,  'one floating IP setting (Enterprise)'),
  setFloatingIp:          row('PUT /interfaces/floating/{name}',                  'disruptive',  null,  'set a floating IP (Enterprise)'),
  unsetFloatingIp:        row('DELETE /interfaces/floating/{name}',               'destructive', null,  'unset a floating IP (Enterprise)'),
  readGateway:            row('GET /interfaces/gateway',                          'read',        '4.0', 'default gateway, older form without family'),
  setGateway:             row('PUT /interfaces/gateway',                          'disruptive',  '4.0', 'set default gateway, older form without family'),
  removeGateway:          row('DELETE /interfaces/gateway',                       'destructive', '4.0', 'remove default gateway, older form without family'),
  readIpv4Gateway:        row('GET /interfaces/gateway/ipv4',                     'read',        null,  'default ipv4 gateway'),
  setIpv4Gateway:         row('PUT /interfaces/gateway/ipv4',                     'disruptive',  null,  'set the default ipv4 gateway'),
  removeIpv4Gateway:      row('DELETE /interfaces/gateway/ipv4',                  'destructive', null,  'remove the default ipv4 gateway'),
  readIpv6Gateway:        row('GET /interfaces/gateway/ipv6',                     'read',        null,  'default ipv6 gateway'),
  setIpv6Gateway:         row('PUT /interfaces/gateway/ipv6',                     'disruptive',  null,  'set the default ipv6 gateway'),
  removeIpv6Gateway:      row('DELETE /interfaces/gateway/ipv6',                  'destructive', null,  'remove the default ipv6 gateway'),
});

/** Display names of backends and interfaces (docs/api.md §6). */
export const aliasesEndpoints = area('aliases', {
  listBackendAliases:   row('GET /aliases/backends',                  'read',        null, 'list backend aliases (Enterprise)'),
  createBackendAlias:   row('POST /aliases/backends',                 'reversible',  null, 'name a backend address (Enterprise, newer builds)'),
  setBackendAlias:      row('PUT /aliases/backends/{ip}',             'reversible',  null, 'set a backend alias (Enterprise)'),
  deleteBackendAlias:   row('DELETE /aliases/backends/{ip}',          'destructive', null, 'delete a backend alias (Enterprise)'),
  listInterfaceAliases: row('GET /aliases/interfaces',                'read',        null, 'list interface aliases (Enterprise)'),
  createInterfaceAlias: row('POST /aliases/interfaces',               'reversible',  null, 'name an interface (Enterprise, newer builds)'),
  setInterfaceAlias:    row('PUT /aliases/interfaces/{interface}',    'reversible',  null, 'set an interface alias (Enterprise)'),
  deleteInterfaceAlias: row('DELETE /aliases/interfaces/{interface}', 'destructive', null, 'delete an interface alias (Enterprise)'),
});

/**
 * Policy routing; every change applies at once and can cut the way to the appliance itself
 * (docs/api.md §6).
 */
export const routingEndpoints = area('routing', {
  readRoutingPath:          row('GET /routing/{path*}',                                 'read',        '4.0.1', 'wildcard as stated for the routing module (Enterprise)'),
  createRoutingPath:        row('POST /routing/{path*}',                                'disruptive',  '4.0.1', 'wildcard as stated for the routing module (Enterprise)'),
  updateRoutingPath:        row('PUT /routing/{path*}',                                 'disruptive',  '4.0.1', 'wildcard as stated for the routing module (Enterprise)'),
  deleteRoutingPath:        row('DELETE /routing/{path*}',                              'destructive', '4.0.1', 'wildcard as stated for the routing module (Enterprise)'),
  listRoutingRules:         row('GET /routing/rules',                                   'read',        '4.0.1', 'list routing rules (Enterprise)'),
  addRoutingRule:           row('POST /routing/rules',                                  'disruptive',  '4.0.1', 'add a routing rule (Enterprise)'),
  updateRoutingRule:        row('PUT /routing/rules/{id}',                              'disruptive',  '4.0.1', 'modify a routing rule (Enterprise)'),
  deleteRoutingRule:        row('DELETE /routing/rules/{id}',                           'destructive', '4.0.1', 'delete a routing rule (Enterprise)'),
  listRoutingTables:        row('GET /routing/tables',                                  'read',        '4.0.1', 'list routing tables (Enterprise)'),
  readRoutingTable:         row('GET /routing/tables/{table}',                          'read',        '4.0.1', 'one routing table (Enterprise)'),
  addRoute:                 row('POST /routing/tables/{table}/routes',                  'disruptive',  '4.0.1', 'add a route (Enterprise)'),
  updateRoute:              row('PUT /routing/tables/{table}/routes/{id}',              'disruptive',  '4.0.1', 'modify a route (Enterprise)'),
  deleteRoute:              row('DELETE /routing/tables/{table}/routes/{id}',           'destructive', '4.0.1', 'delete a route (Enterprise)'),
  listUnmanagedInterfaces:  row('GET /routing/tables/{table}/unmanaged',                'read',        '4.0.1', 'list interfaces excluded from a table (Enterprise)'),
  addUnmanagedInterface:    row('POST /routing/tables/{table}/unmanaged',               'disruptive',  '4.0.1', 'exclude an interface from a table (Enterprise)'),
  removeUnmanagedInterface: row('DELETE /routing/tables/{table}/unmanaged/{interface}', 'destructive', '4.0.1', 'include an interface in a table again (Enterprise)'),
});

/** VPNs, since 4.0.2 (docs/api.md §3.15). */
export const vpnsEndpoints = area('vpns', {
  readVpnPath:                row('GET /vpns/{path*}',               'secret',      '4.0.2', 'wildcard as stated for the VPN module'),
  createVpnPath:              row('POST /vpns/{path*}',              'disruptive',  '4.0.2', 'wildcard as stated for the VPN module'),
  updateVpnPath:              row('PUT /vpns/{path*}',               'disruptive',  '4.0.2', 'wildcard as stated for the VPN module'),
  deleteVpnPath:              row('DELETE /vpns/{path*}',            'destructive', '4.0.2', 'wildcard as stated for the VPN module'),
  listVpns:                   row('GET /vpns',                       'read',        '4.0.2', 'list VPNs with status', { reply: VpnListReply }),
  createVpn:                  row('POST /vpns',                      'reversible',  '4.0.2', 'create a VPN'),
  readVpnsSummary:            row('GET /vpns/modules/summary',       'read',        '4.0.2', 'VPN names by type'),
  // Never seen: these lists may show the shared secret of a VPN.
  listSiteToSiteVpns:         row('GET /vpns/modules/site_to_site',  'secret',      '4.0.2', 'list site to site VPNs (newest CE build fails)'),
  listLegacySiteToSiteVpns:   row('GET /vpns/modules/zss',           'secret',      '4.0.2', 'older name of the site to site VPN list'),
  listTunnelVpns:             row('GET /vpns/modules/tunnel',        'secret',      '4.0.2', 'list tunnel VPNs (newest CE build fails)'),
  listLegacyTunnelVpns:       row('GET /vpns/modules/ztn',           'secret',      '4.0.2', 'older name of the tunnel VPN list'),
  listRemoteAccessVpns:       row('GET /vpns/modules/remote_access', 'secret',      '4.0.2', 'list remote access VPNs (newest CE build fails)'),
  listLegacyRemoteAccessVpns: row('GET /vpns/modules/zrs',           'secret',      '4.0.2', 'older name of the remote access VPN list'),
  readVpn:                    row('GET /vpns/{vpn}',                 'secret',      '4.0.2', 'one VPN, includes the shared secret'),
  updateVpn:                  row('PUT /vpns/{vpn}',                 'disruptive',  '4.0.2', 'modify a VPN'),
  deleteVpn:                  row('DELETE /vpns/{vpn}',              'destructive', '4.0.2', 'stop and delete a VPN'),
  actOnVpn:                   row('POST /vpns/{vpn}/actions',        'reversible',  '4.0.2', 'start, stop or restart a VPN'),
  // Lets somebody into the network.
  addVpnUser:                 row('POST /vpns/{vpn}/users',          'disruptive',  '4.0.2', 'add a remote-access user'),
  updateVpnUser:              row('PUT /vpns/{vpn}/users/{user}',    'disruptive',  '4.0.2', 'change a remote-access user password'),
  deleteVpnUser:              row('DELETE /vpns/{vpn}/users/{user}', 'destructive', '4.0.2', 'delete a remote-access user'),
});
