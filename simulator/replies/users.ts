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
  param,
  read,
  refuse,
  type Reply,
} from '../call.ts';
import { anyText, checkParameters, required, text, yesNo } from '../parameters.ts';
import type { Group, User, World } from '../world.ts';

/** Users and groups of the Enterprise Edition (docs/api.md §6). */
export const rbacHandlers: Handlers = {
  'GET /rbac/users': ({ world }) =>
    read('Users', [...world.users.values()].filter(({ name }) => name !== 'root').map(userView)),
  'GET /rbac/users/{user}': (call) => read('A user', userView(userOf(call))),

  'POST /rbac/users': (call) => {
    const description = 'Make a user';
    const input = checkParameters(call, description, {
      name: required({ pattern: /^[a-z][a-z0-9]*$/ }),
      service: { nonBlank: true, values: ['local', 'ldap'] },
      password: { nonBlank: true, pattern: /^.{8,16}$/ },
    });
    const name = text(input, 'name');
    if (call.world.users.has(name)) return refuse(400, description, `There is a user ${name}.`);
    if (text(input, 'service', 'local') === 'local' && !('password' in input))
      return refuse(400, description, 'A password is needed.');
    const made: User = { name, key: '', enabled: false, password: text(input, 'password') };
    call.world.users.set(name, made);
    return json(201, { description, message: `The user ${name} is made.`, params: { user: userView(made) } });
  },

  'PUT /rbac/users/{user}': (call) => {
    const description = 'Change a user';
    const user = userOf(call);
    const input = checkParameters(call, description, {
      zapikey: { nonBlank: true, pattern: /^[a-zA-Z0-9]+$/ },
      zapi_permissions: yesNo,
      webgui_permissions: yesNo,
      newpassword: { nonBlank: true, pattern: /^.{8,16}$/ },
    });
    if (('zapi_permissions' in input || 'webgui_permissions' in input) && user.group === undefined)
      return refuse(400, description, 'A group is needed first.');
    user.key = text(input, 'zapikey', user.key);
    user.password = text(input, 'newpassword', user.password);
    user.enabled = text(input, 'zapi_permissions', flag(user.enabled)) === 'true';
    return done(description, `The user ${user.name} is changed.`, { params: userView(user) });
  },

  'DELETE /rbac/users/{user}': (call) => {
    const { name } = userOf(call);
    call.world.users.delete(name);
    return done('Delete a user', `The user ${name} is gone.`);
  },

  'GET /rbac/groups': (call) =>
    read(
      'Groups',
      [...call.world.groups.values()].map((group) => groupView(call, group)),
    ),
  'GET /rbac/groups/{group}': (call) => read('A group', groupView(call, groupOf(call))),
  'POST /rbac/groups': (call) => {
    const name = text(checkParameters(call, 'Make a group', { name: required(anyText) }), 'name');
    call.world.groups.set(name, { name, role: {}, farms: [], interfaces: [] });
    return created('Make a group', `The group ${name} is made.`, { name });
  },
  'DELETE /rbac/groups/{group}': (call) => {
    call.world.groups.delete(groupOf(call).name);
    return done('Delete a group', 'The group is gone.');
  },

  ...membersOf('farms', '{farm}'),
  ...membersOf('interfaces', '{interface}'),
  'POST /rbac/groups/{group}/users': (call) => {
    const description = 'Add a user to a group';
    const group = groupOf(call);
    const user = userNamed(call, text(checkParameters(call, description, { name: required(anyText) }), 'name'));
    user.group = group.name;
    return done(description, 'The user is in the group.');
  },
  'DELETE /rbac/groups/{group}/users/{user}': (call) => {
    groupOf(call);
    delete userOf(call).group;
    return done('Take a user out of a group', 'The user is out of the group.');
  },

  'GET /rbac/roles': ({ world }) =>
    read(
      'Roles',
      [...world.groups.values()].map(({ name }) => ({ name: `role-of-${name}` })),
    ),
  'GET /rbac/menus': () => read('Menus', { farm: 'true', certificate: 'true', interface: 'true' }),
  'GET /rbac/services': () => read('Services for logins', { local: 'true', ldap: 'false' }),
};

function userView({ name, enabled, group }: User) {
  return { name, service: 'local', webgui_permissions: 'false', zapi_permissions: flag(enabled), group: group ?? '' };
}

function groupView({ world }: Call, { name, farms, interfaces }: Group) {
  const users = [...world.users.values()].filter(({ group }) => group === name).map((user) => user.name);
  return { name, role: `role-of-${name}`, users, resources: { farms, interfaces } };
}

/** Returns the calls on the resources of a group; `*` is all of a kind. */
function membersOf(kind: 'farms' | 'interfaces', placeholder: string): Handlers {
  const description = 'Resources of a group';
  return {
    [`POST /rbac/groups/{group}/${kind}`]: (call) => {
      const group = groupOf(call);
      const name = text(checkParameters(call, description, { name: required(anyText) }), 'name');
      if (group[kind].includes(name)) return refuse(400, description, 'It is in the group.');
      group[kind].push(name);
      return done(description, 'It is in the group now.');
    },
    [`DELETE /rbac/groups/{group}/${kind}/${placeholder}`]: (call) => {
      const group = groupOf(call);
      const index = group[kind].indexOf(param(call, placeholder.slice(1, -1)));
      if (index < 0) return refuse(404, description, 'It is not in the group.');
      group[kind].splice(index, 1);
      return done(description, 'It is out of the group.');
    },
  };
}

function userOf(call: Call): User {
  return userNamed(call, param(call, 'user'));
}

function userNamed({ world }: Call, name: string): User {
  return world.users.get(name) ?? refuse(404, 'A user', `There is no user ${name}.`);
}

function groupOf(call: Call): Group {
  const name = param(call, 'group');
  return call.world.groups.get(name) ?? refuse(404, 'A group', `There is no group ${name}.`);
}

const exposed = ['Access-control-expose-headers', 'Set-Cookie'] as const;

/** Answers `POST /session`: opens a GUI session for a name and a password (docs/api.md §1.2). */
export function openSession(world: World, headers: IncomingHttpHeaders, content: Buffer): Reply {
  if (world.release === 'older' && (headers['content-type'] !== 'application/json' || content.length === 0)) {
    return json(415, { error: 'true', message: 'This content type is not supported.' });
  }
  const user = sessionOf(world, headers) ? undefined : userOfPassword(world, headers);
  if (!user) return { ...failure(401, 'Open a session', 'Name and password do not fit.'), headers: [exposed] };
  const id = randomBytes(16).toString('hex');
  world.sessions.set(id, user.name);
  const key = world.edition === 'enterprise' ? { key: world.activation.certificateKey } : {};
  const value = { host: world.hostname, user: user.name, version: world.productVersion, ...key };
  return { ...json(200, value), headers: [cookie(id), exposed] };
}

/** Answers `DELETE /session`: closes the session of the cookie. */
export function closeSession(world: World, headers: IncomingHttpHeaders): Reply {
  const session = sessionOf(world, headers);
  if (!session) return failure(400, 'Close a session', 'There is no session to close.');
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
