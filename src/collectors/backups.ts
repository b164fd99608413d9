import { dateToSeconds } from '../appliance/text-date.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface Backups {
  readonly count: number;
  /**
   * Unix seconds of the newest one; undefined where there is none, or none with a date that we can
   * read.
   */
  readonly lastSeconds: number | undefined;
}

const backupRows = rowsOf((backups: Backups) => [backups], {});

/** Reads the number of backups and the age of the newest. It never reads their contents. */
export const backupsCollector: ApplianceWideCollector<Backups> = {
  name: 'backups',
  schedule: '0 */30 * * * *',
  maxStaleMs: 7_200_000,
  enabled: true,
  optional: true,
  refreshedBy: ['system-backup'],
  async collect({ read }) {
    const list = (await read('listBackups', {})).params;
    const dates = list.map(({ date }) => dateToSeconds(date ?? '')).filter((date) => date !== undefined);
    return { count: list.length, lastSeconds: dates.length > 0 ? Math.max(...dates) : undefined };
  },
  families: [
    backupRows.gauge(
      'zlb_backups',
      'Configuration backups on the appliance (GET /system/backup).',
      ({ count }) => count,
    ),
    backupRows.gauge(
      'zlb_backup_last_timestamp_seconds',
      'Unix time of the newest configuration backup (GET /system/backup, date).',
      ({ lastSeconds }) => lastSeconds,
    ),
  ],
};
