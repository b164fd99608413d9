import {
  BackupListReply,
  LocalClusterNodeReply,
  PackagesReply,
  SystemInfoReply,
  SystemVersionReply,
} from '../schemas.ts';
import { type ReadSideEffect, area, row } from './row.ts';

/** Sessions of the appliance's own web interface (docs/api.md §1.2). */
export const sessionEndpoints = area('session', {
  openSession:  row('POST /session',   'reversible', '4.0', 'open a GUI session with HTTP Basic credentials', { body: 'none' }),
  closeSession: row('DELETE /session', 'reversible', '4.0', 'close the GUI session of the cookie'),
});

/** The inventory in one tree. */
export const idsEndpoints = area('ids', {
  // The Enterprise Edition names its RBAC users here.
  listIds: row('GET /ids', 'secret', '4.0.1', 'tree of object identifiers'),
});

const buildsBundle = {
  on: 'every call',
  risk: 'reversible',
  does: 'sets the clock by NTP, signals keepalived, and leaves an archive of the logs in /tmp',
  when: 'always; of two calls in one minute the second gets a broken archive',
  source: 'measured',
} as const satisfies ReadSideEffect;

/**
 * Versions, packages, support bundles and settings of the whole appliance (docs/api.md §3.12 and
 * §4.7).
 */
export const systemEndpoints = area('system', {
  readSystemInfo:              row('GET /system/info',              'read',        '4.0.1', 'versions, edition, host name, supported API versions', { reply: SystemInfoReply }),
  readSystemVersion:           row('GET /system/version',           'read',        '4.0',   'versions and host name', { reply: SystemVersionReply }),
  readLicenceText:             row('GET /system/license/{format}',  'read',        '4.0',   'software licence text (txt or html)'),
  downloadSupportBundle:       row('GET /system/support',           'secret',      null,    'build and download a support bundle (heavy)', { readSideEffect: buildsBundle }),
  downloadLegacySupportBundle: row('GET /system/supportsave',       'secret',      '4.0',   'older name of the support bundle (heavy)', { readSideEffect: buildsBundle }),
  downloadLargeSupportBundle:  row('GET /system/supportsave/all',   'secret',      null,    'larger support bundle on one older line', { readSideEffect: { ...buildsBundle, source: 'not checked, assumed' } }),
  readLanguage:                row('GET /system/language',          'read',        null,    'GUI language, no authentication needed in the newest CE'),
  setLanguage:                 row('POST /system/language',         'reversible',  null,    'set the GUI language'),
  listPackages:                row('GET /system/packages',          'read',        '4.0',   'pending package updates', { reply: PackagesReply }),
  // No call takes an uploaded image away again.
  uploadOfflinePackages:       row('POST /system/packages/offline', 'disruptive',  null,    'upload an offline update ISO image, content type not shown (Enterprise, newer builds)', { body: 'gzip' }),
  readGlobalSettings:          row('GET /system/global',            'read',        '4.0.1', 'global settings (Enterprise)'),
  setGlobalSettings:           row('POST /system/global',           'disruptive',  '4.0.1', 'set global settings, force may restart services (Enterprise)'),
  resetToFactory:              row('POST /system/factory',          'destructive', '4.0',   'factory reset (Enterprise)'),
});

export const systemUsersEndpoints = area('system-users', {
  readCallingUser:   row('GET /system/users',  'secret',     '4.0', 'settings of the calling user'),
  updateCallingUser: row('POST /system/users', 'disruptive', '4.0', 'change own password, API key or API permission'),
});

export const systemLogsEndpoints = area('system-logs', {
  listLogs:     row('GET /system/logs',                      'secret', '4.0', 'list log files'),
  downloadLog:  row('GET /system/logs/{file}',               'secret', '4.0', 'download a log file'),
  readLogLines: row('GET /system/logs/{file}/lines/{count}', 'secret', null,  'last lines of a log file'),
});

/**
 * Backups of the configuration; an archive holds its keys and passwords (docs/api.md §3.12, §4.7).
 */
export const systemBackupEndpoints = area('system-backup', {
  listBackups:    row('GET /system/backup',                 'read',        '4.0', 'list backups', { reply: BackupListReply }),
  createBackup:   row('POST /system/backup',                'reversible',  '4.0', 'create a backup'),
  downloadBackup: row('GET /system/backup/{name}',          'secret',      '4.0', 'download a backup archive'),
  uploadBackup:   row('PUT /system/backup/{name}',          'reversible',  '4.0', 'upload a backup archive (base64 text)', { body: 'gzip' }),
  deleteBackup:   row('DELETE /system/backup/{name}',       'destructive', '4.0', 'delete a backup'),
  restoreBackup:  row('POST /system/backup/{name}/actions', 'disruptive',  '4.0', 'restore a backup, replaces the configuration'),
});

/**
 * Services of the appliance itself: names, time, SNMP, proxy, SSH, web server, syslog (docs/api.md
 * §3.12 and §4.7).
 */
export const systemServicesEndpoints = area('system-services', {
  readDns:               row('GET /system/dns',                'read',        '4.0',   'DNS settings'),
  setDns:                row('POST /system/dns',               'reversible',  '4.0',   'set DNS'),
  readNtp:               row('GET /system/ntp',                'read',        '4.0',   'NTP settings'),
  setNtp:                row('POST /system/ntp',               'reversible',  '4.0',   'set NTP'),
  readSnmp:              row('GET /system/snmp',               'secret',      '4.0',   'SNMP settings'),
  setSnmp:               row('POST /system/snmp',              'disruptive',  '4.0',   'set SNMP'),
  // The address of a proxy can hold a user and a password.
  readProxy:             row('GET /system/proxy',              'secret',      '4.0',   'outgoing proxy settings'),
  setProxy:              row('POST /system/proxy',             'reversible',  '4.0',   'set the outgoing proxy'),
  readSshServer:         row('GET /system/ssh',                'secret',      null,    'SSH server settings (Enterprise)'),
  setSshServer:          row('POST /system/ssh',               'disruptive',  '4.0',   'set SSH listen addresses and ports (Enterprise)'),
  readHttpServer:        row('GET /system/http',               'read',        null,    'management HTTP server settings (Enterprise)'),
  setHttpServer:         row('POST /system/http',              'disruptive',  '4.0',   'set management HTTP addresses and ports (Enterprise)'),
  // Its shape is not documented, and a certificate file of this appliance includes the private key.
  readServerCertificate: row('GET /system/https/certificate',  'secret',      '4.0.2', 'management server certificate (Enterprise)'),
  setServerCertificate:  row('POST /system/https/certificate', 'disruptive',  '4.0.2', 'set the management server certificate (Enterprise)'),
  // Its shape is not documented, and it may hold TLS keys.
  readRemoteSyslog:      row('GET /system/rsyslog',            'secret',      '4.0.2', 'remote syslog targets (Enterprise)'),
  // Sends the logs somewhere else.
  setRemoteSyslog:       row('POST /system/rsyslog',           'disruptive',  '4.0.2', 'add or set a remote syslog target (Enterprise)'),
  removeRemoteSyslog:    row('DELETE /system/rsyslog',         'destructive', '4.0.2', 'remove remote syslog (Enterprise)'),
});

/** The cluster of the Enterprise Edition (docs/api.md §3.12 and §4.7). */
export const clusterEndpoints = area('cluster', {
  readCluster:          row('GET /system/cluster',                 'read',        '4.0', 'cluster configuration (Enterprise)'),
  createCluster:        row('POST /system/cluster',                'disruptive',  null,  'create the cluster (Enterprise)'),
  updateCluster:        row('PUT /system/cluster',                 'disruptive',  '4.0', 'modify the cluster (Enterprise)'),
  deleteCluster:        row('DELETE /system/cluster',              'destructive', null,  'dissolve the cluster (Enterprise)'),
  actOnCluster:         row('POST /system/cluster/actions',        'disruptive',  null,  'cluster maintenance enable or disable (Enterprise)'),
  listClusterNodes:     row('GET /system/cluster/nodes',           'read',        null,  'state of the cluster nodes (Enterprise)'),
  readLocalClusterNode: row('GET /system/cluster/nodes/localhost', 'read',        null,  'state of this node (Enterprise)', { reply: LocalClusterNodeReply }),
});

/** Alerts by e-mail (docs/api.md §6). */
export const notificationsEndpoints = area('notifications', {
  listAlerts:         row('GET /system/notifications/alerts',                   'read',       null, 'list alerts with status (Enterprise)'),
  readBackendsAlert:  row('GET /system/notifications/alerts/backends',          'read',       null, 'backends alert settings (Enterprise)'),
  setBackendsAlert:   row('POST /system/notifications/alerts/backends',         'reversible', null, 'set the backends alert (Enterprise)'),
  actOnBackendsAlert: row('POST /system/notifications/alerts/backends/actions', 'reversible', null, 'enable or disable the backends alert (Enterprise)'),
  readClusterAlert:   row('GET /system/notifications/alerts/cluster',           'read',       null, 'cluster alert settings (Enterprise)'),
  setClusterAlert:    row('POST /system/notifications/alerts/cluster',          'reversible', null, 'set the cluster alert (Enterprise)'),
  actOnClusterAlert:  row('POST /system/notifications/alerts/cluster/actions',  'reversible', null, 'enable or disable the cluster alert (Enterprise)'),
  readEmailSettings:  row('GET /system/notifications/methods/email',            'secret',     null, 'e-mail notification settings (Enterprise)'),
  // Replaces a password that cannot be read back.
  setEmailSettings:   row('POST /system/notifications/methods/email',           'disruptive', null, 'set e-mail notification (Enterprise)'),
  sendTestEmail:      row('POST /system/notifications/methods/email/actions',   'reversible', null, 'send a test e-mail (Enterprise)'),
});

/** Credentials at cloud providers, of unknown shape. */
export const cloudEndpoints = area('cloud', {
  readAwsCredentials:   row('GET /aws/credentials',    'secret',     null, 'aws credentials state (Enterprise)'),
  setAwsCredentials:    row('POST /aws/credentials',   'disruptive', null, 'set aws credentials (Enterprise)'),
  setAwsSshKey:         row('PUT /aws/ssh',            'disruptive', null, 'set the aws SSH key (Enterprise)'),
  readAzureCredentials: row('GET /azure/credentials',  'secret',     null, 'azure credentials state (Enterprise)'),
  setAzureCredentials:  row('POST /azure/credentials', 'disruptive', null, 'set azure credentials (Enterprise)'),
  setAzureSshKey:       row('PUT /azure/ssh',          'disruptive', null, 'set the azure SSH key (Enterprise)'),
});
