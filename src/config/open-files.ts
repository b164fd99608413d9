import { resolve } from 'node:path';
import type { Secret } from '../lib/secret.ts';
import { type ReadText, withFolder } from './files.ts';
import type { Parsed } from '../lib/check.ts';
import { certificatesIn, privateKeyIn } from '../lib/pem.ts';
import type { Path, Problems } from './problems.ts';
import { apiKey } from './readers.ts';
import type { ApplianceFile } from './schema.ts';
import type { TlsServerFile } from './web-schema.ts';
import type { Source } from './yaml-file.ts';

/** The contents of the files that the settings of an appliance name. */
export interface Opened {
  readonly apiKey: Secret | undefined;
  readonly adminApiKey: Secret | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/** The certificates and the key of a listener, from its files or inline; PEM. */
export interface OpenedTls {
  readonly cert: string | undefined;
  readonly key: Secret | undefined;
  readonly clientCa: string | undefined;
}

/** Reads the keys and the authority of the appliance at a path of the configuration. */
export async function openFiles(appliance: ApplianceFile, at: Path, open: OpenFile): Promise<Opened> {
  return {
    apiKey: appliance.api_key ?? (await open(appliance.api_key_file, [...at, 'api_key_file'], apiKeyFile)),
    adminApiKey:
      appliance.admin_api_key ?? (await open(appliance.admin_api_key_file, [...at, 'admin_api_key_file'], apiKeyFile)),
    ca: await open(appliance.tls.ca_file, [...at, 'tls', 'ca_file'], certificatesFile),
  };
}

/** Reads the certificate of a listener, its key and the authorities of its clients. */
export async function openTlsFiles(
  tls: Partial<TlsServerFile> | undefined,
  at: Path,
  open: OpenFile,
): Promise<OpenedTls> {
  return {
    cert: tls?.cert ?? (await open(tls?.cert_file, [...at, 'cert_file'], certificatesFile)),
    key: tls?.key ?? (await open(tls?.key_file, [...at, 'key_file'], privateKeyFile)),
    clientCa: tls?.client_ca ?? (await open(tls?.client_ca_file, [...at, 'client_ca_file'], certificatesFile)),
  };
}

/** A kind of file: its purpose, which limits its size, and its parser. */
interface FileKind<T> {
  readonly purpose: 'key' | 'certificates';
  readonly read: (text: string) => Parsed<T>;
}

const apiKeyFile: FileKind<Secret> = { purpose: 'key', read: (text) => apiKey(text.replace(/[\r\n]+$/, '')) };
const certificatesFile: FileKind<string> = { purpose: 'certificates', read: certificatesIn };
const privateKeyFile: FileKind<Secret> = { purpose: 'key', read: privateKeyIn };

/** Reads the file that the value at a path names, if there is one. */
export type OpenFile = <T>(name: string | undefined, at: Path, kind: FileKind<T>) => Promise<T | undefined>;

/** Creates an {@link OpenFile} that reports a problem with a file and resolves to undefined. */
export function createOpenFile(source: Source, readText: ReadText, problems: Problems): OpenFile {
  return async (name, at, { purpose, read }) => {
    if (name === undefined) return undefined;
    const folder = source.folderOf(at);
    const text = await readText(resolve(folder, name), purpose);
    const outcome =
      'value' in text ? read(text.value) : { problem: `${withFolder(text.problem, name, folder)}. ${pathHint}` };
    if ('value' in outcome) return outcome.value;
    problems.report(source.locate(at), outcome.problem);
    return undefined;
  };
}

const pathHint = 'Give the path of a file the exporter may read, best an absolute one';
