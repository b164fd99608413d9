import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { listed } from '../../lib/text.ts';
import type { Note } from './notes.ts';

/** The files and folders that a configuration names. */
export interface NamedFiles {
  readonly read: readonly string[];
  readonly written: readonly string[];
}

const unit = 'zlb-exporter.service';
/** The first folder that has the unit wins. */
const unitFolders = ['/etc/systemd/system', '/run/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];
const environmentFile = '/etc/zlb-exporter/environment';
/** Folders that the kernel hides from a service, by the setting of its unit. */
const hidden = { ProtectHome: ['/home', '/root', '/run/user'], PrivateTmp: ['/tmp', '/var/tmp'] } as const;

/**
 * Returns a note about each file that this process can use and the installed service cannot: its
 * unit allows few folders. No notes if no unit starts with this configuration.
 */
export async function serviceNotes(
  configuration: string,
  { read, written }: NamedFiles,
  root = '/',
): Promise<readonly Note[]> {
  const text = await readUnit(root);
  if (!text.includes(`--config.file=${resolve(configuration)} `)) return [];
  const lines = `${text}\n${await textOf(join(root, environmentFile))}`.replaceAll(/^#.*$/gm, '');
  return [
    ...read.flatMap((path) => noteOf(lines, 'read', path)),
    ...written.flatMap((path) => noteOf(lines, 'write', path)),
  ];
}

function noteOf(unitText: string, verb: 'read' | 'write', path: string): readonly Note[] {
  const flag = `--allow-fs-${verb}=`;
  const allowed = [...unitText.matchAll(new RegExp(`${flag}(\\S+)`, 'g'))].map(([, folder = '']) => folder);
  const isAllowed = allowed.some((folder) => isBelow(path, folder));
  const setting = Object.entries(hidden).find(
    ([name, folders]) => unitText.includes(`\n${name}=yes`) && folders.some((folder) => isBelow(path, folder)),
  )?.[0];
  if (isAllowed && setting === undefined) return [];
  const otherwise =
    setting === undefined
      ? `, or add ${flag}${path} to ZLB_NODE_FLAGS in ${environmentFile}`
      : ` (${setting} hides it)`;
  const writable = verb === 'write' && setting === undefined ? ', and ReadWritePaths= to the unit' : '';
  return [
    {
      text: `The service cannot ${verb} ${path}, as its unit allows only ${listed(allowed)}. Move it there${otherwise}${writable}.`,
      isWrong: true,
    },
  ];
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
