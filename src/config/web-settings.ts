import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import { createFiles, type Files } from './files.ts';
import { createOpenFile, type OpenedWeb, openWebFiles } from './open-files.ts';
import { createProblems } from './problems.ts';
import { createStructureReader, type StructureReader } from './structure.ts';
import type { Environment } from './substitute.ts';
import { cipherList, curveNames, tlsVersions, type TlsVersion } from './tls-names.ts';
import { checkWeb } from './web-checks.ts';
import { type TlsServerFile, type WebFile, webSchema } from './web-schema.ts';
import { readYamlFile } from './yaml-file.ts';

/** The checked settings that protect the metrics listener. */
export interface WebSettings {
  /** Without it, plain HTTP. */
  readonly tls?: WebTlsSettings;
  /** bcrypt hashes by user; without any, everybody may read. */
  readonly users: ReadonlyMap<string, Secret>;
  /** Added to every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rateLimit?: { readonly intervalMs: number; readonly burst: number };
}

/** TLS settings with the names of OpenSSL. */
interface WebTlsSettings {
  /** PEM, as are `key` and `clientCa`; the key belongs to the first certificate. */
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa?: string;
  readonly clientAuth: Exclude<TlsServerFile['client_auth_type'], 'RequireClientCert'>;
  /** A client certificate must have one of these. */
  readonly clientAllowedSans?: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Separated by colons, as are the curves; without it those of Node. */
  readonly ciphers?: string;
  readonly curves?: string;
  readonly honorCipherOrder: boolean;
}

export interface WebSettingsSource {
  /** Path of the YAML file. */
  readonly file: string;
  readonly env: Environment;
}

/**
 * Loads a web configuration; rejects with a ConfigError that names all problems. `files` is given
 * by a caller that asks later whether they changed.
 */
export type LoadWebSettings = (files?: Files) => Promise<WebSettings>;

/** Creates a loader, which compiles the schema once for many loads. */
export function createWebSettingsLoader(from: WebSettingsSource): LoadWebSettings {
  const readStructure = createStructureReader(webSchema);
  return (files = createFiles({ path: undefined })) => load(from, files, readStructure);
}

/** Loads a web configuration once. */
export function loadWebSettings(from: WebSettingsSource): Promise<WebSettings> {
  return createWebSettingsLoader(from)();
}

async function load(
  { file, env }: WebSettingsSource,
  files: Files,
  readStructure: StructureReader<WebFile>,
): Promise<WebSettings> {
  const problems = createProblems();
  const source = await readYamlFile({
    file,
    remedy: 'Give --web.config.file the path of a YAML file',
    minimalContent: 'write {} into it for plain HTTP without passwords, or what docs/web-configuration.md explains',
    env,
    readText: files.readText,
    problems,
  });
  if (source === undefined) throw problems.error();
  const { whole, partly } = readStructure(source, problems);
  const opened = await openWebFiles(partly.tls_server_config, createOpenFile(source, files.readText, problems));
  checkWeb({ config: partly, source, opened, problems });
  if (!problems.isEmpty()) throw problems.error();
  assert(whole, 'what does not fit the schema is a problem');
  return toWebSettings(whole, opened);
}

function toWebSettings(config: WebFile, opened: OpenedWeb): WebSettings {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users, rate_limit: limit } = config;
  return {
    ...(tls && { tls: toTls(tls, opened) }),
    users: new Map(Object.entries(users)),
    headers: Object.fromEntries(Object.entries(http.headers).filter(([, value]) => value !== '')),
    ...(limit.interval > 0 && { rateLimit: { intervalMs: limit.interval, burst: limit.burst } }),
  };
}

function toTls(tls: TlsServerFile, { cert, key, clientCa }: OpenedWeb): WebTlsSettings {
  const { client_auth_type: type, client_allowed_sans: clientAllowedSans, curve_preferences: curves } = tls;
  assert(cert !== undefined && key, 'a certificate or a key that cannot be read is a problem');
  const ciphers = cipherList(tls.cipher_suites, tls.min_version);
  return {
    cert,
    key,
    ...(clientCa !== undefined && { clientCa }),
    clientAuth: type === 'RequireClientCert' ? 'RequireAnyClientCert' : type,
    ...(clientAllowedSans && { clientAllowedSans }),
    minVersion: tlsVersions.get(tls.min_version) ?? 'TLSv1.2',
    maxVersion: tlsVersions.get(tls.max_version) ?? 'TLSv1.3',
    ...(ciphers !== undefined && { ciphers }),
    ...(curves && { curves: curves.flatMap((name) => curveNames.get(name) ?? []).join(':') }),
    honorCipherOrder: tls.prefer_server_cipher_suites,
  };
}
