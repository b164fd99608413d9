import { type Call, done, type Handlers, read, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  each,
  type Input,
  ipv4,
  type Model,
  natural,
  onlyText,
  portNumber,
  required,
  text,
  yesNo,
} from '../parameters.ts';
import type { World } from '../world.ts';

const address = { pattern: ipv4.pattern ?? /./, format: 'ip_addr' } as const;

const snmpModel: Model = {
  status: yesNo,
  ip: { nonBlank: true },
  port: portNumber,
  community: { nonBlank: true, pattern: /^.{1,32}$/ },
  scope: { nonBlank: true, pattern: /^[\d.]+\/\d+$/ },
};

/** Services of the operating system, and alerts by mail. */
export const systemServiceHandlers: Handlers = {
  // Services of the operating system (docs/api.md §3.12, §4.7).
  ...settingsHandlers('dns', { primary: { ...address, nonBlank: true }, secondary: address }),
  ...settingsHandlers('proxy', each(['http_proxy', 'https_proxy'], anyText)),
  ...settingsHandlers('snmp', snmpModel),

  'GET /system/ntp': ({ world }) => read({ server: world.settings.ntp }),
  'POST /system/ntp': (call) => {
    call.world.settings.ntp = onlyText(call, 'server', anyText);
    // A plain string, unlike the read.
    return done('The time server is set.', { params: call.world.settings.ntp });
  },

  'GET /system/ssh': ({ world }) => read(listed(world, world.settings.ssh)),
  'POST /system/ssh': (call) => {
    const model = { listen: { list: true }, port: { ...portNumber, list: true } } as const;
    return changed(call.world.settings.ssh, checkParameters(call, model));
  },

  'GET /system/http': ({ world }) => read(listed(world, world.settings.http)),
  'POST /system/http': (call) => {
    const { force, ...input } = checkParameters(call, {
      ip: { list: true },
      port: { ...portNumber, list: true },
      force: yesNo,
    });
    if (force !== 'true') return refuse(400, 'This can cut the API off and needs force.');
    return changed(call.world.settings.http, input);
  },

  'POST /system/factory': (call) => {
    const input = checkParameters(call, { interface: required(anyText), force: yesNo, remove_backups: yesNo });
    if (input['force'] !== 'true') return refuse(400, 'Everything would be lost; this needs force.');
    if (call.world.interfaces.get(text(input, 'interface'))?.type !== 'nic')
      return refuse(400, 'There is no such interface.');
    call.world.farms.clear();
    if (input['remove_backups'] === 'true') call.world.backups.clear();
    call.world.reboot();
    return done('The appliance restarts in its factory state.');
  },

  // Alerts by mail of the Enterprise Edition (docs/api.md §6).
  'GET /system/notifications/alerts': ({ world }) =>
    read((['backends', 'cluster'] as const).map((alert) => ({ alert, status: world.notifications[alert]['status'] }))),

  ...alertHandlers('backends'),
  ...alertHandlers('cluster'),

  // The read masks the password; the write returns it.
  'GET /system/notifications/methods/email': ({ world: { notifications } }) =>
    read({ ...notifications.email, password: notifications.email['password'] === '' ? '' : '******' }),

  'POST /system/notifications/methods/email': (call) => {
    const input = checkParameters(call, emailModel);
    Object.assign(call.world.notifications.email, input);
    return done('Mail is set up.', { params: input });
  },

  'POST /system/notifications/methods/email/actions': (call) => {
    checkParameters(call, { action: required({ values: ['test'] }) });
    if (call.world.notifications.email['server'] === '') return refuse(400, 'The test mail did not leave.');
    return done('The test mail has left.');
  },
};

function settingsHandlers(name: 'dns' | 'proxy' | 'snmp', model: Model): Handlers {
  return {
    [`GET /system/${name}`]: ({ world }) => read(world.settings[name]),
    [`POST /system/${name}`]: (call) => changed(call.world.settings[name], checkParameters(call, model)),
  };
}

/** Returns the settings as lists, which 4.0.2 made of them (docs/api.md §7). */
function listed(world: World, settings: Readonly<Record<string, string>>) {
  if (world.release === 'older') return settings;
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, [value]]));
}

function changed(settings: Record<string, string>, input: Input) {
  for (const name of Object.keys(input))
    settings[name] = Array.isArray(input[name]) ? String(input[name][0]) : text(input, name);
  return done('The settings are changed.', { params: settings });
}

type Alert = 'backends' | 'cluster';

const emailModel: Model = { ...each(['user', 'password', 'server', 'from', 'to'], anyText), tls: yesNo };
const alertModels: Readonly<Record<Alert, Model>> = {
  backends: { prefix: anyText, avoidflappingtime: natural },
  cluster: { prefix: anyText },
};

function alertHandlers(alert: Alert): Handlers {
  return {
    [`GET /system/notifications/alerts/${alert}`]: ({ world }) => read(world.notifications[alert]),
    [`POST /system/notifications/alerts/${alert}`]: (call) => {
      const input = checkParameters(call, alertModels[alert]);
      Object.assign(call.world.notifications[alert], input);
      return done('The alert is changed.', { params: input });
    },
    [`POST /system/notifications/alerts/${alert}/actions`]: (call) => switchAlert(call, alert),
  };
}

function switchAlert(call: Call, alert: Alert): Reply {
  const action = onlyText(call, 'action', { values: ['enable', 'disable'] });
  const settings = call.world.notifications[alert];
  const status = action === 'enable' ? 'enabled' : 'disabled';
  if (settings['status'] === status) return refuse(400, 'It is so already.');
  settings['status'] = status;
  return done('The alert is switched.', { params: { action, status } });
}
