import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sessionOf, userOfPassword } from './access.ts';
import { failure, json, type Reply } from './call.ts';
import type { World } from './world.ts';

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
