import { type Call, done, type Handlers, read, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  type Input,
  ipv4,
  type Model,
  natural,
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

/** Services of the operating system (docs/api.md §3.12, §4.7). */
export const systemServiceHandlers: Handlers = {
  'GET /system/dns': ({ world }) => read('Name servers', world.settings.dns),
  'POST /system/dns': (call) => {
    const description = 'Set the name servers';
    return changed(
      description,
      call.world.settings.dns,
      checkParameters(call, description, { primary: { ...address, nonBlank: true }, secondary: address }),
    );
  },

  'GET /system/ntp': ({ world }) => read('Time server', { server: world.settings.ntp }),
  'POST /system/ntp': (call) => {
    const description = 'Set the time server';
    call.world.settings.ntp = text(checkParameters(call, description, { server: required(anyText) }), 'server');
    // A plain string, unlike the read.
    return done(description, 'The time server is set.', { params: call.world.settings.ntp });
  },

  'GET /system/proxy': ({ world }) => read('Proxies', world.settings.proxy),
  'POST /system/proxy': (call) => {
    const description = 'Set the proxies';
    return changed(
      description,
      call.world.settings.proxy,
      checkParameters(call, description, { http_proxy: anyText, https_proxy: anyText }),
    );
  },

  'GET /system/snmp': ({ world }) => read('SNMP', world.settings.snmp),
  'POST /system/snmp': (call) => {
    const description = 'Set SNMP';
    return changed(description, call.world.settings.snmp, checkParameters(call, description, snmpModel));
  },

  'GET /system/ssh': ({ world }) => read('SSH', listed(world, world.settings.ssh)),
  'POST /system/ssh': (call) => {
    const description = 'Set SSH';
    return changed(
      description,
      call.world.settings.ssh,
      checkParameters(call, description, { listen: { list: true }, port: { ...portNumber, list: true } }),
    );
  },

  'GET /system/http': ({ world }) => read('Management server', listed(world, world.settings.http)),
  'POST /system/http': (call) => {
    const description = 'Set the management server';
    const { force, ...input } = checkParameters(call, description, {
      ip: { list: true },
      port: { ...portNumber, list: true },
      force: yesNo,
    });
    if (force !== 'true') return refuse(400, description, 'This can cut the API off and needs force.');
    return changed(description, call.world.settings.http, input);
  },

  'POST /system/factory': (call) => {
    const description = 'Back to the factory state';
    const input = checkParameters(call, description, {
      interface: required(anyText),
      force: yesNo,
      remove_backups: yesNo,
    });
    if (input['force'] !== 'true') return refuse(400, description, 'Everything would be lost; this needs force.');
    if (call.world.interfaces.get(text(input, 'interface'))?.type !== 'nic')
      return refuse(400, description, 'There is no such interface.');
    call.world.farms.clear();
    if (input['remove_backups'] === 'true') call.world.backups.clear();
    call.world.reboot();
    return done(description, 'The appliance restarts in its factory state.');
  },
};

/** Returns the settings as lists, which 4.0.2 made of them (docs/api.md §7). */
function listed(world: World, settings: Readonly<Record<string, string>>) {
  if (world.release === 'older') return settings;
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, [value]]));
}

function changed(description: string, settings: Record<string, string>, input: Input) {
  for (const name of Object.keys(input))
    settings[name] = Array.isArray(input[name]) ? String(input[name][0]) : text(input, name);
  return done(description, 'The settings are changed.', { params: settings });
}

type Alert = 'backends' | 'cluster';

const emailModel: Model = { user: anyText, password: anyText, server: anyText, from: anyText, to: anyText, tls: yesNo };
const alertModels: Readonly<Record<Alert, Model>> = {
  backends: { prefix: anyText, avoidflappingtime: natural },
  cluster: { prefix: anyText },
};

/** Alerts by mail of the Enterprise Edition (docs/api.md §6). */
export const notificationHandlers: Handlers = {
  'GET /system/notifications/alerts': ({ world }) =>
    read(
      'Alerts',
      (['backends', 'cluster'] as const).map((alert) => ({ alert, status: world.notifications[alert]['status'] })),
    ),

  ...alertHandlers('backends'),
  ...alertHandlers('cluster'),

  // The read masks the password; the write returns it.
  'GET /system/notifications/methods/email': ({ world: { notifications } }) =>
    read('Mail', { ...notifications.email, password: notifications.email['password'] === '' ? '' : '******' }),

  'POST /system/notifications/methods/email': (call) => {
    const input = checkParameters(call, 'Set up mail', emailModel);
    Object.assign(call.world.notifications.email, input);
    return done('Set up mail', 'Mail is set up.', { params: input });
  },

  'POST /system/notifications/methods/email/actions': (call) => {
    const description = 'Try mail';
    checkParameters(call, description, { action: required({ values: ['test'] }) });
    if (call.world.notifications.email['server'] === '')
      return refuse(400, description, 'The test mail did not leave.');
    return done(description, 'The test mail has left.');
  },
};

function alertHandlers(alert: Alert): Handlers {
  return {
    [`GET /system/notifications/alerts/${alert}`]: ({ world }) => read('An alert', world.notifications[alert]),
    [`POST /system/notifications/alerts/${alert}`]: (call) => {
      const input = checkParameters(call, 'Change an alert', alertModels[alert]);
      Object.assign(call.world.notifications[alert], input);
      return done('Change an alert', 'The alert is changed.', { params: input });
    },
    [`POST /system/notifications/alerts/${alert}/actions`]: (call) => switchAlert(call, alert),
  };
}

function switchAlert(call: Call, alert: Alert): Reply {
  const description = 'Switch an alert';
  const action = text(
    checkParameters(call, description, { action: required({ values: ['enable', 'disable'] }) }),
    'action',
  );
  const settings = call.world.notifications[alert];
  const status = action === 'enable' ? 'enabled' : 'disabled';
  if (settings['status'] === status) return refuse(400, description, 'It is so already.');
  settings['status'] = status;
  return done(description, 'The alert is switched.', { params: { action, status } });
}
