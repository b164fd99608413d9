import { BackupListReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** Backups of the configuration; an archive holds its keys and passwords (docs/api.md §3.12, §4.7 and §5.6). */
export const systemBackupEndpoints = {
  listBackups: {
    route: 'GET /system/backup',
    area: 'system-backup',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list backups',
    reply: BackupListReply,
  },
  createBackup: {
    route: 'POST /system/backup',
    area: 'system-backup',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'create a backup',
  },
  downloadBackup: {
    route: 'GET /system/backup/{name}',
    area: 'system-backup',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'download a backup archive',
  },
  uploadBackup: {
    route: 'PUT /system/backup/{name}',
    area: 'system-backup',
    since: '4.0',
    risk: 'reversible',
    body: 'gzip',
    summary: 'upload a backup archive (base64 text)',
  },
  deleteBackup: {
    route: 'DELETE /system/backup/{name}',
    area: 'system-backup',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a backup',
  },
  restoreBackup: {
    route: 'POST /system/backup/{name}/actions',
    area: 'system-backup',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'restore a backup, replaces the configuration',
  },
} as const satisfies Record<string, EndpointRow>;
