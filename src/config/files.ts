import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { errorCode } from '../lib/check.ts';
import { globMatcher } from '../lib/text.ts';
import { isSame } from '../lib/same.ts';
import { kindOf } from '../lib/disk.ts';
import { createFileAccess, type FileAccess, hungFile } from '../lib/file-access.ts';

/** Why a file or a folder cannot be read; `code` is that of the system, where there is one. */
export interface FileProblem {
  readonly error: string;
  readonly code?: string;
}

/** The files of a configuration, with their state when they were read. */
export interface Files {
  readonly readText: ReadText;
  /**
   * Resolves to the sorted paths that match a pattern, whose last part may contain `*`; a pattern
   * without one matches itself. A folder that cannot be read is a problem, not an empty list.
   */
  list(pattern: string): Promise<{ readonly value: readonly string[] } | FileProblem>;
  /** The texts of the main files that were read, by path. */
  readonly mainTexts: ReadonlyMap<string, string>;
  /** The files that were read, contain an API key or a private key, and are readable by everybody. */
  readonly exposedKeyFiles: readonly string[];
  /** Resolves to true if any file except the main ones has changed, appeared or vanished. */
  haveChanged(): Promise<boolean>;
}

/**
 * Creates files that are read again each time. `kept` has the texts of the active main files:
 * changes of the other files are applied automatically, but the main files, which people edit in
 * steps, only on request.
 */
export function createFiles(
  mainPaths: readonly string[] = [],
  {
    kept,
    access = createFileAccess(),
  }: { readonly kept?: ReadonlyMap<string, string>; readonly access?: FileAccess } = {},
): Files {
  const mainTexts = new Map<string, string>();
  const seen = new Map<string, string>();
  const listed = new Map<string, Awaited<ReturnType<typeof expandPattern>>>();
  const exposed = new Set<string>();

  const readText: ReadText = async (path, purpose) => {
    if (mainPaths.includes(path)) {
      const keptText = kept?.get(path);
      const text = keptText === undefined ? await readFileText(path, purpose, access) : { value: keptText };
      if ('value' in text) mainTexts.set(path, text.value);
      return text;
    }
    // Taken before reading: a change in between then counts as a change.
    seen.set(path, await signatureOf(path, access));
    return await readFileText(path, purpose, access);
  };

  return {
    mainTexts,
    get exposedKeyFiles() {
      return [...exposed];
    },
    async readText(path, purpose) {
      const text = await readText(path, purpose);
      const hasKey = 'value' in text && (purpose === 'key' || keyInYaml.test(text.value));
      if (hasKey && (await isReadableByAll(path, access))) exposed.add(path);
      return text;
    },
    async list(pattern) {
      const paths = await expandPattern(pattern, access);
      listed.set(pattern, paths);
      return paths;
    },
    async haveChanged() {
      for (const [pattern, paths] of listed) if (!isSame(await expandPattern(pattern, access), paths)) return true;
      // One after the other: there may be a thousand files, and nothing waits for them.
      for (const [path, signature] of seen) if ((await signatureOf(path, access)) !== signature) return true;
      return false;
    },
  };
}

/**
 * Returns no files for a missing folder, like a shell; a missing file without `*` fails when it is
 * read.
 */
async function expandPattern(pattern: string, access: FileAccess): ReturnType<Files['list']> {
  const name = basename(pattern);
  if (!name.includes('*')) return { value: [pattern] };
  const folder = dirname(pattern);
  const fits = globMatcher(name);
  try {
    const names = await access(folder, () => readdir(folder));
    // Editors leave hidden files while somebody writes.
    const fitting = names.filter((each) => !each.startsWith('.') && fits(each));
    return { value: fitting.toSorted().map((each) => join(folder, each)) };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { value: [] } : fileProblem('its folder cannot be read', error, folder);
  }
}

/**
 * Returns a text that differs if a file was replaced, also behind a symbolic link, where Kubernetes
 * swaps a whole folder. Uses the change time, which nobody can set: keys have the same length, and
 * tools that unpack or copy them may set one date for all.
 */
async function signatureOf(path: string, access: FileAccess): Promise<string> {
  try {
    const { ino, size, ctimeNs } = await access(path, () => stat(path, { bigint: true }));
    return `${ino} ${size} ${ctimeNs}`;
  } catch (error) {
    return errorCode(error);
  }
}

/** Matches an API key that is in the configuration itself and not in an environment variable. */
const keyInYaml = /^[^#\n]*\b(?:admin_)?api_key["']?\s*:\s*(?!["']?\$\{)\S/m;
const othersRead = 0o004;
const othersEnter = 0o001;

/**
 * Resolves to true if every user may read a file. A folder on its path that others may not enter
 * keeps it closed.
 */
async function isReadableByAll(path: string, access: FileAccess): Promise<boolean> {
  const lets = async (each: string, right: number): Promise<boolean> => ((await stat(each)).mode & right) !== 0;
  try {
    return await access(path, async () => {
      const file = await realpath(path);
      if (!(await lets(file, othersRead))) return false;
      for (let folder = dirname(file); await lets(folder, othersEnter); folder = dirname(folder))
        if (folder === dirname(folder)) return true;
      return false;
    });
  } catch {
    // It was read a moment ago; the next reading says what is wrong with it.
    return false;
  }
}

const noSuchFile = 'there is no such file';
const notPermitted =
  'the permissions of Node.js leave its folder out; move it below /etc/zlb-exporter, or add --allow-fs-read=FOLDER to ZLB_NODE_FLAGS in /etc/zlb-exporter/environment';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: noSuchFile,
  ENOTDIR: 'a part of its path is a file, not a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
  ERR_INVALID_ARG_VALUE: 'its path contains a null character',
  ERR_ACCESS_DENIED: notPermitted,
  ETIMEDOUT: hungFile,
  EMFILE: 'the process has as many files open as it may; raise its limit (LimitNOFILE, ulimit -n)',
};

/** Maximum size of a file by its purpose. */
const limits = {
  key: { bytes: 65_536, text: '64 KiB' },
  certificates: { bytes: 1_048_576, text: '1 MiB' },
  configuration: { bytes: 1_048_576, text: '1 MiB' },
} as const;

/** Reads a text file; an error says what is wrong with it. */
export type ReadText = (
  path: string,
  purpose: keyof typeof limits,
) => Promise<{ readonly value: string } | FileProblem>;

/**
 * Reads a regular file, also behind a symbolic link. Does not open pipes and devices, which may
 * never end. An error quotes only the path of a file that exists: any other text may be an API key in
 * place of the name of its file.
 */
export async function readFileText(
  path: string,
  purpose: keyof typeof limits,
  access: FileAccess = createFileAccess(),
): ReturnType<ReadText> {
  let foundPath: string | undefined;
  try {
    const status = await access(path, () => stat(path));
    foundPath = resolve(path);
    if (!status.isFile()) return { error: `cannot be read: it is a ${kindOf(status)}, not a file` };
    const limit = limits[purpose];
    // `end` is inclusive, so this reads one byte past the limit. The size is unusable: 0 for files
    // of /proc.
    const bytes = await access(path, () => buffer(createReadStream(path, { end: limit.bytes })));
    if (bytes.length > limit.bytes) return { error: `cannot be read: it is larger than ${limit.text}` };
    if (bytes.includes(0)) return { error: 'cannot be read: it is a binary file, not text' };
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return fileProblem('cannot be read', error, foundPath);
  }
}

/**
 * Adds to a problem, if a file does not exist, where it was looked for or what creates it. Does not
 * repeat the name, which may be a key.
 */
export function withHint({ error, code }: FileProblem, name: string, folder = ''): FileProblem {
  if (name.startsWith('/run/credentials/') && (code === 'ENOENT' || code === 'ERR_ACCESS_DENIED')) {
    // Node.js permits only folders that are there when it starts.
    const missing = error.replace(notPermitted, noSuchFile);
    const hint = 'systemd puts it there for the service and for zlb-exporter-check, if install.sh found it in';
    return { error: `${missing}; ${hint} /etc/zlb-exporter/keys`, code: 'ENOENT' };
  }
  if (code !== 'ENOENT' || isAbsolute(name)) return { error, ...(code !== undefined && { code }) };
  return { error: `${error}; a relative path starts at ${resolve(folder)}`, code };
}

/** The codes of errors that end with a remedy. */
const remedied: readonly string[] = ['EACCES', 'EPERM', 'ERR_ACCESS_DENIED', 'ETIMEDOUT', 'EMFILE'];

/** Returns the error of a problem, with a remedy if it has none. */
export function withRemedy({ error, code = '' }: FileProblem, remedy: string): string {
  return remedied.includes(code) ? error : `${error}. ${remedy}`;
}

/** Returns why a file or a folder cannot be read; quotes the path if it exists. */
function fileProblem(what: string, error: unknown, foundPath: string | undefined): FileProblem {
  const code = errorCode(error);
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  return { error: `${what}: ${isForbidden ? noPermission(foundPath) : (reasons[code] ?? code)}`, code };
}

/** Names the user: a person who checks by hand is often not the user of the exporter. */
function noPermission(path: string | undefined): string {
  const { name, isTransient } = currentUser();
  const problem = `user ${name} may not ${path === undefined ? 'enter a folder on its path' : `read ${path}`}`;
  if (isTransient)
    return `${problem}; put it into /etc/zlb-exporter/keys, run install.sh again, and name it /run/credentials/zlb-exporter.service/${path === undefined ? 'NAME' : basename(path)}`;
  const remedy = path === undefined ? `move it where user ${name} may read` : `chown ${name} ${path}`;
  return `${problem}; if the exporter runs as ${name}: ${remedy}`;
}

function currentUser(): { readonly name: string; readonly isTransient: boolean } {
  try {
    return { name: userInfo().username, isTransient: false };
  } catch {
    // The user has no entry in the system: that of a container, or of a service, which systemd names.
    const { USER } = process.env;
    return { name: USER ?? String(process.geteuid?.()), isTransient: USER !== undefined };
  }
}
