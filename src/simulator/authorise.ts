import type { IncomingHttpHeaders } from 'node:http';
import type { Release, User, World } from './world.ts';

const keyHeaders: Readonly<Record<Release, readonly string[]>> = {
  newest: ['api_key', 'api-key', 'zapi_key', 'zapi-key'],
  older: ['zapi_key', 'zapi-key'],
};

/** Whoever the key or the session cookie belongs to; undefined is a 401. */
export function userOf(world: World, headers: IncomingHttpHeaders): User | undefined {
  const session = sessionOf(world, headers);
  if (session) return world.users.get(session.login);
  const key = keyHeaders[world.release].map((name) => headers[name]).find((value) => value !== undefined);
  if (typeof key !== 'string' || key === '') return undefined;
  return [...world.users.values()].find((user) => user.enabled && user.key === key);
}

/** The GUI session of the request's cookie. */
export function sessionOf(
  world: World,
  headers: IncomingHttpHeaders,
): { readonly id: string; readonly login: string } | undefined {
  const id = /(?:^|;\s*)CGISESSID=([0-9a-f]+)/.exec(headers.cookie ?? '')?.[1] ?? '';
  const login = world.sessions.get(id);
  return login === undefined ? undefined : { id, login };
}

/** The user whose name and password stand in `Authorization: Basic`. */
export function userOfPassword(world: World, headers: IncomingHttpHeaders): User | undefined {
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined) return undefined;
  const [name = '', ...password] = Buffer.from(basic, 'base64').toString().split(':');
  const user = world.users.get(name);
  return user?.password === password.join(':') ? user : undefined;
}
