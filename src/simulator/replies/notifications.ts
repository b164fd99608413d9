import type { Call, Handlers } from '../call.ts';
import { anyText, checkParameters, natural, required, text, yesNo, type Model } from '../parameters.ts';
import { done, read, refuse, type Reply } from '../reply.ts';

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

  // The password is masked here, and echoed by the write.
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
