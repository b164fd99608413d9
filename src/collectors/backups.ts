import { backupDateToSeconds } from '../lib/text-date.ts';
import { gauge } from '../metrics/family.ts';
import type { ApplianceCollector } from './collector.ts';

const count = gauge('zlb_backups', 'Configuration backups on the appliance (GET /system/backup).');
const last = gauge(
  'zlb_backup_last_timestamp_seconds',
  'Unix time of the newest configuration backup (GET /system/backup, date).',
);

/** How many backups there are and how old the newest is. Their contents are never asked for. */
export const backups: ApplianceCollector = {
  name: 'backups',
  schedule: '0 */30 * * * *',
  maxStaleMs: 7_200_000,
  enabled: true,
  optional: true,
  touchedBy: ['system-backup'],
  families: [count, last],
  async collect({ read }) {
    const list = (await read('listBackups', {})).params;
    const dates = list.map(({ date }) => backupDateToSeconds(date ?? '')).filter((date) => date !== undefined);
    return {
      expose: (emit) => {
        emit.sample(count, {}, list.length);
        emit.sample(last, {}, dates.length > 0 ? Math.max(...dates) : null);
      },
    };
  },
};
