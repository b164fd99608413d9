import { type Guard, callParam } from './guard.ts';

/** docs/api.md §8, 23. */
export const backupNamePrefix: Guard = {
  name: 'backup_name_prefix',
  effect: 'refuses or warns',
  operations: ['deleteBackup', 'restoreBackup'],
  about: 'Backups are looked up by the beginning of their names, so that a name cut short means another backup.',
  async inspect(context) {
    const wanted = callParam(context, 'name');
    const { params: backups } = await context.read('listBackups', {});
    const longer = backups.map(({ name }) => name).filter((name) => name !== wanted && name.startsWith(wanted));
    if (longer.length === 0) return [];
    const exists = backups.some(({ name }) => name === wanted);
    return [
      {
        severity: exists ? 'warning' : 'blocking',
        message: `${exists ? `Besides the backup ${wanted} there` : `There is no backup ${wanted}, but there`} is ${longer.join(', ')}, and the appliance looks backups up by the beginning of their names.`,
        remedy: 'Write the full name of the backup that is meant, as GET /system/backup lists it.',
      },
    ];
  },
};
