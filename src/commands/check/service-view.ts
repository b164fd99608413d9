import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { errorCode } from '../../lib/check.ts';
import { listed } from '../../lib/text.ts';
import type { Note } from './notes.ts';

/** The files and folders that a configuration names. */
export interface NamedFiles {
  readonly read: readonly string[];
  readonly written: readonly string[];
}

/** The installed service. */
export interface Service {
  /** The path of the configuration that it starts with. */
  readonly configuration: string;
  /** Its unit and its environment file, without comments. */
  readonly unitText: string;
  /** False if this process may not read the environment file, which can allow more. */
  readonly isWhole: boolean;
  /** Undefined for root, which may read all, and for a name without an entry. */
  readonly user: ServiceUser | undefined;
  /** The folder that stands for `/`. */
  readonly root: string;
}

interface ServiceUser {
  /** Undefined for a user that exists only while the service runs, and so owns no file before. */
  readonly name?: string;
  readonly uid?: number;
  readonly gids: readonly number[];
}

/** A folder that a user may not enter, or a file that it may not read. */
interface ClosedPlace {
  readonly place: string;
  readonly isFolder: boolean;
}

const unit = 'zlb-exporter.service';
/** The first folder that has the unit wins. */
const unitFolders = ['/etc/systemd/system', '/run/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];
const environmentFile = '/etc/zlb-exporter/environment';
const keysFolder = '/etc/zlb-exporter/keys';
/** The folder where systemd hands keys to the service. */
export const credentials = `/run/credentials/${unit}`;
/** The folders that systemd gives to the user of the service at each start. */
const given = [credentials, '/var/lib/zlb-exporter'];
/** Folders that the kernel hides from a service, by the setting of its unit. */
const hidden = { ProtectHome: ['/home', '/root', '/run/user'], PrivateTmp: ['/tmp', '/var/tmp'] } as const;

/** Returns the service that starts with this configuration; undefined if none is installed. */
export async function findService(configuration: string, root = '/'): Promise<Service | undefined> {
  const text = await readUnit(root);
  const path = resolve(configuration);
  if (!text.includes(`--config.file=${path} `)) return undefined;
  const environment = await readFile(join(root, environmentFile), 'utf8').catch((error: unknown) =>
    errorCode(error) === 'ENOENT' ? '' : undefined,
  );
  const unitText = `${text}\n${environment ?? ''}`.replaceAll(/^#.*$/gm, '');
  return {
    configuration: path,
    unitText,
    isWhole: environment !== undefined,
    root,
    user: await userOf(unitText, root),
  };
}

/** Returns a note about each file that this process can use and the service perhaps cannot. */
export async function serviceNotes(service: Service, { read, written }: NamedFiles): Promise<readonly Note[]> {
  const notes = [
    ...written.map((path) => notAllowed(service, 'write', path)),
    ...(await Promise.all(
      [service.configuration, ...read].map(
        async (path) => notAllowed(service, 'read', path) ?? (await notPermitted(service, path)),
      ),
    )),
  ];
  return notes.filter((note) => note !== undefined);
}

/** Returns the command, in a clause, that gives a key to the exporter and to nobody else. */
export function keyRemedy(path: string, service: Service | undefined): string {
  const { user } = service ?? {};
  if (!user) return `Give it to the exporter alone: chmod 600 ${path}`;
  if (user.name !== undefined) return `Give it to the service alone: chown ${user.name} ${path} && chmod 600 ${path}`;
  const isMoved = isBelow(path, keysFolder);
  return `${isMoved ? 'Run' : `Move it to ${keysFolder}, run`} install.sh again, and name it ${credentials}/${basename(path)}`;
}

/** Returns a note if flags of Node.js or hidden folders keep the service from a file. */
function notAllowed({ unitText, isWhole }: Service, verb: 'read' | 'write', path: string): Note | undefined {
  const flag = `--allow-fs-${verb}=`;
  const allowed = [...unitText.matchAll(new RegExp(`${flag}(\\S+)`, 'g'))].map(([, folder = '']) => folder);
  const isAllowed = allowed.some((folder) => isBelow(path, folder));
  const setting = Object.entries(hidden).find(
    ([name, folders]) => unitText.includes(`\n${name}=yes`) && folders.some((folder) => isBelow(path, folder)),
  )?.[0];
  const cannot = `The service cannot ${verb} ${path}, as its unit allows only ${listed(allowed)}. Move it there`;
  if (setting !== undefined) return { text: `${cannot} (${setting} hides it).`, isWrong: true };
  if (isAllowed) return undefined;
  if (!isWhole)
    return {
      text: `It is not known whether the service can ${verb} ${path}: this user cannot read ${environmentFile}. Run check as root.`,
    };
  const writable = verb === 'write' ? ', and ReadWritePaths= to the unit' : '';
  return {
    text: `${cannot}, or add ${flag}${path} to ZLB_NODE_FLAGS in ${environmentFile}${writable}.`,
    isWrong: true,
  };
}

/** Returns a note if the mode of a file or of a folder above it keeps the service out. */
async function notPermitted(service: Service, path: string): Promise<Note | undefined> {
  const { user, root } = service;
  if (!user || given.some((folder) => isBelow(path, folder))) return undefined;
  const closed = await firstClosed(path, user, root);
  if (!closed) return undefined;
  return {
    text: `The service cannot read ${path}: its user has no right to ${closed.place === path ? 'read it' : `enter ${closed.place}`}. ${openRemedy(path, closed, service)}.`,
    isWrong: true,
  };
}

function openRemedy(path: string, { place, isFolder }: ClosedPlace, service: Service): string {
  if (isFolder && place === path) return `Let everybody read it: chmod o+rx ${path}`;
  if (place === service.configuration) return `Let everybody read it: chmod o+r ${path}`;
  return place !== path && service.user?.name !== undefined ? `Move it to ${keysFolder}` : keyRemedy(path, service);
}

/** Returns the first folder on the way to a file, or the file itself, that a user may not use. */
async function firstClosed(path: string, user: ServiceUser, root: string): Promise<ClosedPlace | undefined> {
  const names = path.split(sep).filter(Boolean);
  for (const index of names.keys()) {
    const place = `/${names.slice(0, index + 1).join(sep)}`;
    // Another check has the finding about a file that is missing or closed to this process, too.
    const status = await stat(join(root, place)).catch(() => undefined);
    if (!status) return undefined;
    const shift = status.uid === user.uid ? 6 : user.gids.includes(status.gid) ? 3 : 0;
    const isFolder = status.isDirectory();
    const needed = (place === path ? 0o4 : 0) | (isFolder ? 0o1 : 0);
    if (((status.mode >> shift) & needed) !== needed) return { place, isFolder };
  }
  return undefined;
}

/** Returns the user of a service; undefined if it is root, or has a name without an entry. */
async function userOf(unitText: string, root: string): Promise<ServiceUser | undefined> {
  const name = [...unitText.matchAll(/^User=(.+)$/gm)].at(-1)?.[1];
  if (name === undefined) return unitText.includes('\nDynamicUser=yes') ? { gids: [] } : undefined;
  const rows = async (file: string) =>
    (await textOf(join(root, '/etc', file))).split('\n').map((row) => row.split(':'));
  const [, , uid, gid] = (await rows('passwd')).find(([each]) => each === name) ?? [];
  if (uid === undefined || gid === undefined || name === 'root') return undefined;
  const groups = (await rows('group')).filter(([, , , members = '']) => members.split(',').includes(name));
  return { name, uid: Number(uid), gids: [gid, ...groups.map(([, , id]) => id)].map(Number) };
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Returns the unit with what was added to it; '' if there is none. */
async function readUnit(root: string): Promise<string> {
  const units = await Promise.all(unitFolders.map((folder) => textOf(join(root, folder, unit))));
  const added = await Promise.all(
    unitFolders.map(async (folder) => {
      const beside = join(root, folder, `${unit}.d`);
      const names = await readdir(beside).catch(() => []);
      return await Promise.all(names.map((name) => textOf(join(beside, name))));
    }),
  );
  return [units.find(Boolean) ?? '', ...added.flat()].join('\n');
}

/** Returns '' for a file that is not there or not for this user: then it says nothing. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}
