import { type Call, done, download, flag, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import { backupDate, systemDate } from '../dates.ts';
import { anyText, checkParameters, ipv4, onlyText, portNumber, required, text, yesNo } from '../parameters.ts';
import { type Backup, hasApi402, isNewestCommunity, type World } from '../world.ts';

const apiVersions = {
  newest: {
    last_api_version: '4.0.3',
    supported_api_versions: ['4.0.3'],
    last_zapi_version: '4.0.3',
    supported_zapi_versions: ['4.0.3'],
  },
  '4.0.2': { last_zapi_version: '4.0.2', supported_zapi_versions: ['3', '3.1', '3.2', '4.0.2'] },
  '4.0.1': { last_zapi_version: '4.0.1', supported_zapi_versions: ['3', '3.1', '3.2', '4.0.1'] },
} as const;

/** The appliance itself, and its backups. */
export const systemHandlers: Handlers = {
  // Versions, users, logs and settings of the appliance (docs/api.md §3.12).
  'GET /system/version': ({ world, nowMs }) => read(versions(world, nowMs)),

  'GET /system/info': ({ world, user, nowMs }) => {
    const { edition, language, platform } = world;
    return read({
      ...versions(world, nowMs),
      user: user.name,
      edition,
      language,
      platform,
      ...apiVersions[world.release === 'newest' ? 'newest' : hasApi402(world) ? '4.0.2' : '4.0.1'],
    });
  },

  'GET /system/packages': ({ world: { packages } }) =>
    read({ ...packages, number: packages.packages.length, message: 'Updates are installed on the command line.' }),

  'GET /system/users': ({ world, user }) => {
    const enabled = flag(user.enabled);
    const permissions = { user: user.name, zapi_permissions: enabled };
    if (user.name !== 'root') return read(permissions);
    return read({
      ...permissions,
      service: 'local',
      api_permissions: world.release === 'newest' ? enabled : undefined,
    });
  },

  'POST /system/users': changeUser,

  'GET /system/support': () => download('support.tar.gz', 'a bundle of logs and settings'),
  // No document has the shape of these: it is assumed.
  'GET /system/rsyslog': ({ world }) => read(remoteSyslogOf(world)),

  'POST /system/rsyslog': (call) => {
    const model = { ip: required(ipv4), port: required(portNumber), protocol: { values: ['tcp'] } };
    const input = checkParameters(call, model);
    call.world.remoteSyslog = { ip: text(input, 'ip'), port: Number(input['port']) };
    return done('The log is sent there.', { params: remoteSyslogOf(call.world) });
  },

  'DELETE /system/rsyslog': ({ world }) => {
    world.remoteSyslog = undefined;
    return done('The log is sent nowhere.');
  },

  // No state is behind these: they answer as they were recorded.
  'GET /system/dns': () => read({ primary: '192.0.2.53', secondary: '' }),
  'GET /system/ntp': () => read({ server: 'pool.ntp.org' }),
  'GET /system/snmp': ({ world: { settings } }) => {
    const community = settings.snmpCommunity;
    if (community === undefined) return read({ status: 'false', ip: null, port: null, scope: null, community: null });
    return read({ status: 'false', ip: '*', port: '161', scope: '0.0.0.0/0', community });
  },

  // Backups (docs/api.md §3.12, §4.7).
  'GET /system/backup': ({ world }) =>
    read([...world.backups.values()].map(({ createdAt, ...backup }) => ({ ...backup, date: backupDate(createdAt) }))),

  'POST /system/backup': (call) => {
    const name = onlyText(call, 'name', { pattern: /^[\w-]+$/ });
    if (call.world.backups.has(name)) return refuse(400, `There is a backup ${name}.`);
    addBackup(call, name);
    return done(`The backup ${name} is made.`, { params: name });
  },

  'GET /system/backup/{name}': (call) => {
    const { name } = backupOf(call);
    return download(`${name}.tar.gz`, `the configuration in ${name}`);
  },

  'PUT /system/backup/{name}': (call) => {
    const name = param(call, 'name');
    if (call.world.backups.has(name)) return refuse(400, `There is a backup ${name}.`);
    // An archive as base64 text: gzip begins with 1f 8b.
    if (!call.content.toString().startsWith('H4sI')) return refuse(400, 'This is not a backup.');
    addBackup(call, name);
    return done(`The backup ${name} is stored.`, { params: name });
  },

  'POST /system/backup/{name}/actions': (call) => {
    const backup = backupOf(call);
    const input = checkParameters(call, { action: required({ values: ['apply'] }), force: yesNo });
    if (backup.version !== call.world.productVersion && input['force'] !== 'true')
      return refuse(400, 'It is of another version.');
    return done(`The backup ${backup.name} is in force.`);
  },
};

/** Returns the versions. The product version has the keys of the product line (docs/api.md §7). */
function versions(world: World, nowMs: number) {
  const { release, product, productVersion } = world;
  const version =
    release === 'newest'
      ? { relianoid_version: productVersion, zevenet_version: productVersion }
      : { [`${product}_version`]: productVersion };
  return {
    hostname: world.hostname,
    kernel_version: world.kernelVersion,
    appliance_version: world.applianceVersion,
    system_date: systemDate(nowMs),
    ...version,
  };
}

function changeUser(call: Call): Reply {
  const { user, world } = call;
  const key = { nonBlank: true, pattern: /^[a-zA-Z0-9]+$/ } as const;
  const older = { password: anyText, newpassword: anyText, zapikey: key, zapi_permissions: yesNo };
  const model = world.release === 'newest' ? { ...older, api_key: key, api_permissions: yesNo } : older;
  const input = checkParameters(call, model);

  if ('newpassword' in input) {
    const next = text(input, 'newpassword');
    if (text(input, 'password') !== user.password) return refuse(400, 'The present password is another.');
    if (next.length < 8 || !/\d/.test(next) || !/[a-z]/i.test(next))
      return refuse(400, 'Eight characters, a letter and a digit.');
    user.password = next;
  }
  // The newest Community release accepts `zapikey` and ignores it.
  const nextKey = text(input, isNewestCommunity(world) || 'api_key' in input ? 'api_key' : 'zapikey');
  if (nextKey !== '') user.key = nextKey;
  const permissions = text(input, 'api_permissions', text(input, 'zapi_permissions'));
  if (permissions !== '') user.enabled = permissions === 'true';
  if (permissions === 'false' && world.release === 'newest') user.key = '';
  return done('The user is changed.');
}

function remoteSyslogOf({ remoteSyslog }: World) {
  return remoteSyslog ? [{ ...remoteSyslog, protocol: 'tcp' }] : [];
}

function addBackup({ world, nowMs }: Call, name: string): void {
  world.backups.set(name, { name, createdAt: nowMs, version: world.productVersion });
}

/**
 * Finds a backup by the beginning of its name, as the appliance does by mistake (docs/api.md §4.7).
 */
function backupOf(call: Call): Backup {
  const name = param(call, 'name');
  const found = [...call.world.backups.values()].find((backup) => backup.name.startsWith(name));
  return found ?? refuse(404, `There is no backup ${name}.`);
}
