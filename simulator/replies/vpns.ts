import { type Call, crash, created, done, type Handlers, named, param, read, refuse, type Reply } from '../call.ts';
import { anyText, checkParameters, each, type Model, onlyText, required, text } from '../parameters.ts';
import type { Vpn } from '../world.ts';

const summaryFields = ['local', 'localnet', 'remote', 'remotenet'];
const addresses = ['local', 'localnet', 'localip', 'localmask', 'localtunip', 'localtunmask'];
const remotes = ['remote', 'remotenet', 'remoteip', 'remotemask', 'remotetunip', 'remotetunrange'];
const ciphers = ['p1encrypt', 'p1authen', 'p1dhgroup', 'p2encrypt', 'p2authen', 'p2dhgroup', 'p2prfunc'];
const settingsModel: Model = {
  ...each([...addresses, ...remotes], anyText),
  password: { nonBlank: true },
  ...each(ciphers, { list: true }),
};
const creationModel: Model = {
  ...settingsModel,
  name: required({ pattern: /^[a-zA-Z][a-zA-Z0-9-]*$/ }),
  profile: required({ values: ['site_to_site', 'tunnel', 'remote_access'] }),
  auth: required({ values: ['secret'] }),
  p2protocol: required({ values: ['esp', 'ah'] }),
  local: required(anyText),
  password: required(anyText),
};

/** VPNs (docs/api.md §3.15). */
export const vpnHandlers: Handlers = {
  'GET /vpns': ({ world }) =>
    read(
      [...world.vpns.values()].map(({ name, profile, status, settings }) => ({
        name,
        profile,
        status,
        ...pick(settings, summaryFields),
      })),
    ),

  'GET /vpns/modules/summary': ({ world }) => {
    const of = (profile: string) =>
      [...world.vpns.values()]
        .filter((vpn) => vpn.profile === profile)
        .map(({ name, settings }) => ({ name, profile, ...pick(settings, ['local', 'remote']) }));
    return read({ site_to_site: of('site_to_site'), tunnel: of('tunnel'), remote_access: of('remote_access') });
  },

  // These crash on the newest release (docs/api.md §3.15).
  'GET /vpns/modules/site_to_site': crash,
  'GET /vpns/modules/zss': crash,
  'GET /vpns/modules/tunnel': crash,
  'GET /vpns/modules/ztn': crash,
  'GET /vpns/modules/remote_access': crash,
  'GET /vpns/modules/zrs': crash,

  'GET /vpns/{vpn}': (call) => {
    const { name, profile, status, settings } = named(call, call.world.vpns, 'vpn');
    return read({ name, profile, status, ...settings });
  },

  'POST /vpns': (call) => {
    const input = checkParameters(call, creationModel);
    const { name: _name, profile: _profile, ...settings } = input;
    const name = text(input, 'name');
    const profile = profileOf(text(input, 'profile'));
    if (call.world.vpns.has(name)) return refuse(400, `There is a VPN ${name}.`);
    call.world.vpns.set(name, { name, profile, status: 'down', settings: { ...settings }, users: new Map() });
    const params = { name, profile, status: 'down', ...settings };
    // Only tunnels answer 200 (docs/api.md §1.5).
    return profile === 'tunnel' ? done('The VPN is made.', { params }) : created('The VPN is made.', params);
  },

  'PUT /vpns/{vpn}': (call) => {
    const vpn = named(call, call.world.vpns, 'vpn');
    Object.assign(vpn.settings, checkParameters(call, settingsModel));
    return done('The VPN is changed.', { params: vpn.settings });
  },

  'DELETE /vpns/{vpn}': (call) => {
    const { name } = named(call, call.world.vpns, 'vpn');
    call.world.vpns.delete(name);
    return done(`The VPN ${name} is gone.`);
  },

  'POST /vpns/{vpn}/actions': (call) => {
    const vpn = named(call, call.world.vpns, 'vpn');
    const action = onlyText(call, 'action', { values: ['start', 'stop', 'restart'] });
    vpn.status = action === 'stop' ? 'down' : 'up';
    return done(`The VPN ${vpn.name} is ${vpn.status}.`, { params: { action, status: vpn.status } });
  },

  'POST /vpns/{vpn}/users': (call) => {
    const vpn = named(call, call.world.vpns, 'vpn');
    const input = checkParameters(call, { vpnuser: required(anyText), vpnpass: required(anyText) });
    if (vpn.profile !== 'remote_access') return refuse(400, 'Only remote access has users.');
    if (vpn.users.size > 0 && call.world.edition === 'community') return refuse(400, 'One user is the limit.');
    vpn.users.set(text(input, 'vpnuser'), text(input, 'vpnpass'));
    return created('The user is added.', { vpnuser: text(input, 'vpnuser') });
  },

  'PUT /vpns/{vpn}/users/{user}': (call) => {
    const model = { vpnuser: anyText, vpnpass: required(anyText) };
    return changeUser(call, (vpn, user) => vpn.users.set(user, text(checkParameters(call, model), 'vpnpass')));
  },
  'DELETE /vpns/{vpn}/users/{user}': (call) => changeUser(call, (vpn, user) => vpn.users.delete(user)),
};

function changeUser(call: Call, change: (vpn: Vpn, user: string) => unknown): Reply {
  const vpn = named(call, call.world.vpns, 'vpn');
  const user = param(call, 'user');
  if (!vpn.users.has(user)) return refuse(404, `There is no user ${user}.`);
  change(vpn, user);
  return done('The user is changed.');
}

function profileOf(word: string): Vpn['profile'] {
  return word === 'tunnel' || word === 'remote_access' ? word : 'site_to_site';
}

function pick(settings: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return Object.fromEntries(names.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]]));
}
