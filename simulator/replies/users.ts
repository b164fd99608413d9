import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sessionOf, userOfPassword } from '../access.ts';
import {
  type Call,
  created,
  done,
  failure,
  flag,
  type Handlers,
  json,
  named,
  param,
  read,
  refuse,
  type Reply,
} from '../call.ts';
import { anyText, checkParameters, onlyText, required, text, yesNo } from '../parameters.ts';
import type { Group, User, World } from '../world.ts';

/** Users and groups of the Enterprise Edition (docs/api.md §6). */
export const rbacHandlers: Handlers = {
  'GET /rbac/users': ({ world }) => read([...world.users.values()].filter(({ name }) => name !== 'root').map(userView)),
  'GET /rbac/users/{user}': (call) => read(userView(named(call, call.world.users, 'user'))),

  'POST /rbac/users': (call) => {
    const input = checkParameters(call, {
      name: required({ pattern: /^[a-z][a-z0-9]*$/ }),
      service: { nonBlank: true, values: ['local', 'ldap'] },
      password: { nonBlank: true, pattern: /^.{8,16}$/ },
    });
    const name = text(input, 'name');
    if (call.world.users.has(name)) return refuse(400, `There is a user ${name}.`);
    if (text(input, 'service', 'local') === 'local' && !('password' in input))
      return refuse(400, 'A password is needed.');
    const made: User = { name, key: '', enabled: false, password: text(input, 'password') };
    call.world.users.set(name, made);
    return created(`The user ${name} is made.`, { user: userView(made) });
  },

  'PUT /rbac/users/{user}': (call) => {
    const user = named(call, call.world.users, 'user');
    const input = checkParameters(call, {
      zapikey: { nonBlank: true, pattern: /^[a-zA-Z0-9]+$/ },
      zapi_permissions: yesNo,
      webgui_permissions: yesNo,
      newpassword: { nonBlank: true, pattern: /^.{8,16}$/ },
    });
    if (('zapi_permissions' in input || 'webgui_permissions' in input) && user.group === undefined)
      return refuse(400, 'A group is needed first.');
    user.key = text(input, 'zapikey', user.key);
    user.password = text(input, 'newpassword', user.password);
    user.enabled = text(input, 'zapi_permissions', flag(user.enabled)) === 'true';
    return done(`The user ${user.name} is changed.`, { params: userView(user) });
  },

  'DELETE /rbac/users/{user}': (call) => {
    const { name } = named(call, call.world.users, 'user');
    call.world.users.delete(name);
    return done(`The user ${name} is gone.`);
  },

  'GET /rbac/groups': (call) => read([...call.world.groups.values()].map((group) => groupView(call, group))),
  'GET /rbac/groups/{group}': (call) => read(groupView(call, named(call, call.world.groups, 'group'))),
  'POST /rbac/groups': (call) => {
    const name = onlyText(call, 'name', anyText);
    call.world.groups.set(name, { name, role: {}, farms: [], interfaces: [] });
    return created(`The group ${name} is made.`, { name });
  },
  'DELETE /rbac/groups/{group}': (call) => {
    call.world.groups.delete(named(call, call.world.groups, 'group').name);
    return done('The group is gone.');
  },

  ...membersOf('farm'),
  ...membersOf('interface'),
  'POST /rbac/groups/{group}/users': (call) => {
    const group = named(call, call.world.groups, 'group');
    const name = onlyText(call, 'name', anyText);
    const user = call.world.users.get(name) ?? refuse(404, `There is no user ${name}.`);
    user.group = group.name;
    return done('The user is in the group.');
  },
  'DELETE /rbac/groups/{group}/users/{user}': (call) => {
    named(call, call.world.groups, 'group');
    delete named(call, call.world.users, 'user').group;
    return done('The user is out of the group.');
  },

  'GET /rbac/roles': ({ world }) => read([...world.groups.values()].map(({ name }) => ({ name: `role-of-${name}` }))),
  'GET /rbac/menus': () => read({ farm: 'true', certificate: 'true', interface: 'true' }),
  'GET /rbac/services': () => read({ local: 'true', ldap: 'false' }),
};

function userView({ name, enabled, group }: User) {
  return { name, service: 'local', webgui_permissions: 'false', zapi_permissions: flag(enabled), group: group ?? '' };
}

function groupView({ world }: Call, { name, farms, interfaces }: Group) {
  const users = [...world.users.values()].filter(({ group }) => group === name).map((user) => user.name);
  return { name, role: `role-of-${name}`, users, resources: { farms, interfaces } };
}

/** Returns the calls on the resources of a group; `*` is all of a kind. */
function membersOf(member: 'farm' | 'interface'): Handlers {
  const kind = `${member}s` as const;
  return {
    [`POST /rbac/groups/{group}/${kind}`]: (call) => {
      const group = named(call, call.world.groups, 'group');
      const name = onlyText(call, 'name', anyText);
      if (group[kind].includes(name)) return refuse(400, 'It is in the group.');
      group[kind].push(name);
      return done('It is in the group now.');
    },
    [`DELETE /rbac/groups/{group}/${kind}/{${member}}`]: (call) => {
      const group = named(call, call.world.groups, 'group');
      const index = group[kind].indexOf(param(call, member));
      if (index < 0) return refuse(404, 'It is not in the group.');
      group[kind].splice(index, 1);
      return done('It is out of the group.');
    },
  };
}

const exposed = ['Access-control-expose-headers', 'Set-Cookie'] as const;

/** Answers `POST /session`: opens a GUI session for a name and a password (docs/api.md §1.2). */
export function openSession(world: World, headers: IncomingHttpHeaders, content: Buffer): Reply {
  if (world.release === 'older' && (headers['content-type'] !== 'application/json' || content.length === 0)) {
    return json(415, { error: 'true', message: 'This content type is not supported.' });
  }
  const user = sessionOf(world, headers) ? undefined : userOfPassword(world, headers);
  if (!user)
    return { ...failure(401, 'Name and password do not fit.', { description: 'Open a session' }), headers: [exposed] };
  const id = randomBytes(16).toString('hex');
  world.sessions.set(id, user.name);
  const key = world.edition === 'enterprise' ? { key: world.activation.certificateKey } : {};
  const value = { host: world.hostname, user: user.name, version: world.productVersion, ...key };
  return { ...json(200, value), headers: [cookie(id), exposed] };
}

/** Answers `DELETE /session`: closes the session of the cookie. */
export function closeSession(world: World, headers: IncomingHttpHeaders): Reply {
  const session = sessionOf(world, headers);
  if (!session) return failure(400, 'There is no session to close.', { description: 'Close a session' });
  world.sessions.delete(session.id);
  return { kind: 'empty', status: 200, headers: [exposed] };
}

/** Returns the headers that every answer to a request with a session cookie has (recorded). */
export function sessionHeaders(id: string) {
  return [cookie(id), ['Access-control-expose-headers', 'Set-Cookie, Content-Disposition']] as const;
}

function cookie(id: string) {
  return ['Set-Cookie', `CGISESSID=${id}; path=/; SameSite=None; Secure; HttpOnly`] as const;
}
