import type { IncomingHttpHeaders } from 'node:http';
import { failure, type Reply } from './call.ts';
import type { Group, Release, User, World } from './world.ts';

const keyHeaders: Readonly<Record<Release, readonly string[]>> = {
  newest: ['api_key', 'api-key', 'zapi_key', 'zapi-key'],
  older: ['zapi_key', 'zapi-key'],
};

/** Returns the user of the key; undefined means 401. */
export function userOf(world: World, headers: IncomingHttpHeaders): User | undefined {
  const key = keyHeaders[world.release].map((name) => headers[name]).find((value) => value !== undefined);
  if (typeof key !== 'string' || key === '') return undefined;
  return [...world.users.values()].find((user) => user.enabled && user.key === key);
}

/** Reads that every role may do (docs/api.md §6). */
const openReads = [
  /^\/certificates\/activation\/info$/,
  /^\/system\/version$/,
  /^\/system\/cluster\/nodes\/localhost$/,
  /\/stats/,
  /\/graphs/,
];
const rootOnly = [/^\/system\/factory$/, /^\/certificates\/activation$/];

interface RoleRule {
  readonly section: string;
  readonly path: RegExp;
  /** Reads that need the role as well; all users may do the others. */
  readonly guardedReads?: RegExp;
}

const roleRules: readonly RoleRule[] = [
  { section: 'certificate', path: /^\/certificates/, guardedReads: /^\/certificates\/[^/]+(?:\/info)?$/ },
  { section: 'interface-virtual', path: /^\/interfaces\/virtual/ },
  { section: 'interface', path: /^\/(?:interfaces|routing)/ },
  { section: 'ipds', path: /^\/ipds|\/ipds\// },
  { section: 'farmguardian', path: /^\/monitoring/ },
  { section: 'farm', path: /^\/farms/ },
  { section: 'backup', path: /^\/system\/backup/, guardedReads: /^\/system\/backup\/[^/]+$/ },
  { section: 'supportsave', path: /^\/system\/support/, guardedReads: /./ },
  { section: 'cluster', path: /^\/system\/cluster/ },
  { section: 'log', path: /^\/system\/logs/, guardedReads: /./ },
  { section: 'alias', path: /^\/aliases/, guardedReads: /./ },
  { section: 'notification', path: /^\/system\/notifications/, guardedReads: /email/ },
  { section: 'rbac-user', path: /^\/rbac\/users/, guardedReads: /./ },
  { section: 'rbac-group', path: /^\/rbac\/groups/, guardedReads: /./ },
  { section: 'rbac-role', path: /^\/rbac\/roles/, guardedReads: /./ },
  { section: 'system-service', path: /^\/(?:system|rbac|vpns|aws|azure)/ },
];

/** Returns the 403 of the Enterprise Edition's role check; undefined if the call is allowed. */
export function forbidden(world: World, user: User, method: string, path: string): Reply | undefined {
  if (world.edition === 'community' || user.name === 'root') return undefined;
  const reads = method === 'GET' || method === 'HEAD';
  if (reads && openReads.some((pattern) => pattern.test(path))) return undefined;
  if (rootOnly.some((pattern) => pattern.test(path))) return denied('Only root may do this.');

  const group = user.group === undefined ? undefined : world.groups.get(user.group);
  const object = foreignObject(world, group, path);
  if (object !== undefined) return denied(`${object} is out of reach for ${user.name}.`);

  const rule = roleRules.find(({ path: pattern }) => pattern.test(path));
  const needsRole = rule !== undefined && (!reads || rule.guardedReads?.test(path) === true);
  if (!needsRole || group?.role[rule.section]?.includes(actionOf(method, path))) return undefined;
  return denied(`${user.name} lacks the permission '${actionOf(method, path)}' on '${rule.section}'.`);
}

/** True if lists show the farm to the user. Root and the Community Edition see all. */
export function seesFarm(world: World, user: User, farm: string): boolean {
  if (world.edition === 'community' || user.name === 'root') return true;
  return allowed(world.groups.get(user.group ?? '')?.farms, farm);
}

function foreignObject(world: World, group: Group | undefined, path: string): string | undefined {
  const [, kind, name = ''] = /^\/(farms|interfaces\/virtual)\/([^/]+)/.exec(path) ?? [];
  const decoded = decodeURIComponent(name);
  if (kind === 'farms' && decoded !== 'modules' && world.farms.has(decoded))
    return allowed(group?.farms, decoded) ? undefined : `The farm ${decoded}`;
  if (kind === 'interfaces/virtual')
    return allowed(group?.interfaces, decoded) ? undefined : `The interface ${decoded}`;
  return undefined;
}

function allowed(names: readonly string[] | undefined, name: string): boolean {
  return names !== undefined && (names.includes('*') || names.includes(name));
}

const actions: Readonly<Record<string, string>> = { POST: 'create', PUT: 'modify', DELETE: 'delete' };

function actionOf(method: string, path: string): string {
  if (path.endsWith('/maintenance')) return 'maintenance';
  if (path.endsWith('/actions')) return 'action';
  return actions[method] ?? 'show';
}

function denied(message: string): Reply {
  return failure(403, message, { description: 'Permission' });
}
