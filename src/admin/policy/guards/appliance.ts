import { callParam, type Guard } from './guard.ts';

/** docs/api.md §4.7. */
const backupNamePrefix: Guard = {
  name: 'backup_name_prefix',
  effect: 'refuses or warns',
  operations: ['deleteBackup', 'restoreBackup'],
  about: 'Backups are looked up by the beginning of their names: a short name means another backup.',
  async inspect(context) {
    const wanted = callParam(context, 'name');
    const { params: backups } = await context.read('listBackups', {});
    const longer = backups.map(({ name }) => name).filter((name) => name !== wanted && name.startsWith(wanted));
    if (longer.length === 0) return undefined;
    const exists = backups.some(({ name }) => name === wanted);
    return {
      severity: exists ? 'warning' : 'blocking',
      message: `${exists ? `Besides the backup ${wanted} there` : `There is no backup ${wanted}, but there`} is ${longer.join(', ')}, and the appliance looks backups up by the beginning of their names.`,
      remedy: 'Write the full name of the backup that is meant, as GET /system/backup lists it.',
    };
  },
};

/**
 * docs/api.md §5.5; a deactivated appliance answers the read with 402, which proves Enterprise (see
 * inspect.ts).
 */
const strayActivationFile: Guard = {
  name: 'stray_activation_file',
  effect: 'refuses',
  operations: ['uploadActivationCertificate'],
  about: 'The Community Edition has no activation: it stores the file among its certificates.',
  async inspect({ read }) {
    const { params } = await read('readSystemInfo', {});
    if (params.edition === 'enterprise') return undefined;
    const is = params.edition ? `is the ${params.edition} edition` : 'does not say which edition it is';
    return {
      severity: 'blocking',
      message: `The appliance ${is}; the Community Edition has no activation and would store the upload as a stray file, activation.pem.`,
      remedy: 'Send it to an Enterprise appliance.',
    };
  },
};

/**
 * docs/api.md §4.6 and §4.7. Looks at nothing: which way leads to the appliance cannot be seen from
 * here.
 */
const managementCut: Guard = {
  name: 'management_cut',
  effect: 'warns',
  operations: ['setHttpServer', 'removeGateway', 'removeIpv4Gateway', 'removeIpv6Gateway'],
  about: 'A change of the web server or a gateway can cut the way to the appliance itself.',
  async inspect() {
    return {
      severity: 'warning',
      message:
        'This decides how the appliance itself is reached: the answer may be lost, and from here it may be out of reach afterwards, for polling as well.',
      remedy: 'Have another way in, such as its console, and the right url in the configuration of the exporter.',
    };
  },
};

export const applianceGuards: readonly Guard[] = [backupNamePrefix, strayActivationFile, managementCut];
