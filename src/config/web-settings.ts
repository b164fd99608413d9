import { assert } from '../lib/check.ts';
import { createFiles, type Files } from './files.ts';
import { type Path, Problems } from './problems.ts';
import { settingsOf } from './settings-of.ts';
import { createStructureReader, type StructureReader } from './structure.ts';
import { type Environment, readYamlFile, type Source } from './yaml-file.ts';
import {
  cipherList,
  curveNames,
  type TlsServerFile,
  tlsVersions,
  type WebFile,
  type WebFileSettings,
  webSchema,
} from './web-schema.ts';
import { pairProblem } from '../lib/pem.ts';

/** The checked settings that protect the metrics listener; without `tls`, it speaks plain HTTP. */
export type WebSettings = Readonly<ReturnType<typeof webSettings>>;

export interface WebSettingsSource {
  /** Path of the YAML file. */
  readonly file: string;
  readonly env: Environment;
  /** Reads the files; given by a caller that asks later whether they changed. */
  readonly files?: Files;
}

/**
 * Creates a function that loads a web configuration, and rejects with a ConfigError that names all
 * problems. Compiles the schema once for many loads.
 */
export function createWebSettingsLoader() {
  const readStructure = createStructureReader(webSchema);
  return (from: WebSettingsSource): Promise<WebSettings> => load(from, readStructure);
}

/** Loads a web configuration once. */
export function loadWebSettings(from: WebSettingsSource): Promise<WebSettings> {
  return createWebSettingsLoader()(from);
}

async function load(
  { file, env, files = createFiles({ path: undefined }) }: WebSettingsSource,
  readStructure: StructureReader<WebFile>,
): Promise<WebSettings> {
  const problems = new Problems();
  const source = await readYamlFile({
    file,
    remedy: 'Give --web.config.file the path of a YAML file',
    minimalContent: 'write {} into it for plain HTTP without passwords, or what docs/web-configuration.md explains',
    env,
    readText: files.readText,
    problems,
  });
  if (source === undefined) throw problems.error();
  const config = readStructure(source, problems);
  if (!config || !problems.isEmpty()) throw problems.error();
  checkWeb({ config, source, problems });
  const settings = await settingsOf(webSchema, config, { source, readText: files.readText, problems });
  const { cert, key } = settings.tlsServerConfig ?? {};
  const mismatch = cert !== undefined && key && pairProblem(cert, key, writtenKey(config, 'cert'));
  if (mismatch) problems.report(source.locate(at(writtenKey(config, 'key'))), mismatch);
  if (!problems.isEmpty()) throw problems.error();
  return webSettings(settings);
}

/** Returns the key of a value that may be in the file or in a file of its own. */
function writtenKey<Key extends 'cert' | 'key'>({ tls_server_config: tls }: WebFile, key: Key) {
  return tls?.[key] === undefined ? (`${key}_file` as const) : key;
}

function webSettings({ tlsServerConfig: tls, httpServerConfig, basicAuthUsers, rateLimit }: WebFileSettings) {
  return {
    ...(tls && { tls: tlsSettings(tls) }),
    /** bcrypt hashes by user; without any, everybody may read. */
    users: new Map(Object.entries(basicAuthUsers)),
    /** Added to every answer. */
    headers: Object.fromEntries(Object.entries(httpServerConfig.headers).filter(([, value]) => value !== '')),
    ...(rateLimit.intervalMs > 0 && { rateLimit }),
  };
}

/** Returns TLS settings with the names of OpenSSL. */
function tlsSettings(tls: NonNullable<WebFileSettings['tlsServerConfig']>) {
  const { cert, key, clientCa, clientAuthType: type, clientAllowedSans, curvePreferences: curves } = tls;
  assert(cert !== undefined && key, 'a certificate or a key that cannot be read is a problem');
  const ciphers = cipherList(tls.cipherSuites, tls.minVersion);
  return {
    cert,
    key,
    ...(clientCa !== undefined && { clientCa }),
    clientAuth: type === 'RequireClientCert' ? 'RequireAnyClientCert' : type,
    ...(clientAllowedSans && { clientAllowedSans }),
    minVersion: tlsVersions.get(tls.minVersion) ?? 'TLSv1.2',
    maxVersion: tlsVersions.get(tls.maxVersion) ?? 'TLSv1.3',
    ...(ciphers !== undefined && { ciphers }),
    ...(curves && { curves: curves.flatMap((name) => curveNames.get(name) ?? []).join(':') }),
    honorCipherOrder: tls.preferServerCipherSuites,
  };
}

interface Checked {
  readonly config: WebFile;
  readonly source: Source;
  readonly problems: Problems;
}

type TlsKey = keyof TlsServerFile;

/** Reports values of a web configuration that are valid alone and wrong in combination. */
function checkWeb(checked: Checked): void {
  const tls = checked.config.tls_server_config;
  if (tls) {
    for (const check of [requireCertificate, checkClientAuthorities, checkAllowedSans, checkTlsVersions])
      check(tls, checked);
  }
  checkUsers(checked);
  checkRateLimit(checked);
}

function requireCertificate(tls: TlsServerFile, { source, problems }: Checked): void {
  for (const [inline, file] of [
    ['cert', 'cert_file'],
    ['key', 'key_file'],
    ['client_ca', 'client_ca_file'],
  ] as const) {
    if (tls[inline] !== undefined && tls[file] !== undefined)
      problems.report(source.locate(at(inline), 'key'), `contradicts ${file}; remove one of the two`);
    if (tls[inline] === undefined && tls[file] === undefined && file !== 'client_ca_file')
      problems.report(source.locate(at(file)), `is missing; add it, or remove tls_server_config to speak plain HTTP`);
  }
}

function checkClientAuthorities(tls: TlsServerFile, { source, problems }: Checked): void {
  const { client_auth_type: type } = tls;
  const authorities = (['client_ca', 'client_ca_file'] as const).find((key) => tls[key] !== undefined);
  if (type === 'NoClientCert' && authorities !== undefined) {
    problems.report(
      source.locate(at(authorities)),
      'is of no use while clients are not asked for a certificate; set client_auth_type to RequireAndVerifyClientCert, or remove it',
    );
  }
  if ((type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert') && authorities === undefined) {
    problems.report(
      source.locate(at('client_auth_type')),
      'needs client_ca_file; without it a certificate of any authority that the world knows would do',
    );
  }
}

/**
 * Reports allowed names where a client may connect without a certificate, and so without a name.
 */
function checkAllowedSans(tls: TlsServerFile, { source, problems }: Checked): void {
  const { client_allowed_sans: sans, client_auth_type: type } = tls;
  if (!sans || ['RequireAnyClientCert', 'RequireClientCert', 'RequireAndVerifyClientCert'].includes(type)) return;
  problems.report(
    source.locate(at('client_allowed_sans')),
    `means nothing where clients may come without a certificate; set client_auth_type to RequireAndVerifyClientCert`,
  );
}

function checkTlsVersions(tls: TlsServerFile, { source, problems }: Checked): void {
  const { min_version: oldest, max_version: newest } = tls;
  const order = [...tlsVersions.keys()];
  if (order.indexOf(oldest) <= order.indexOf(newest)) return;
  const isWritten = (key: TlsKey) => source.locate(at(key)).written !== undefined;
  const written = isWritten('max_version') ? 'max_version' : 'min_version';
  problems.report(source.locate(at(written)), `leaves no version of TLS: from ${oldest} to ${newest}`);
}

function checkUsers({ config, source, problems }: Checked): void {
  const names = Object.keys(config.basic_auth_users);
  // Checked here, or the first scrape would get 500.
  if (names.length > 0 && isThreadRefused()) {
    problems.report(
      source.locate(['basic_auth_users'], 'key'),
      "cannot be checked: passwords are compared in a thread, which Node's permissions refuse here; add --allow-worker beside --permission (with the unit of deploy/systemd: ZLB_NODE_FLAGS=--allow-worker in its environment file)",
    );
  }
  for (const name of names) {
    // Located by the key path of the hash, which hides a name that may be a misplaced password.
    const place = source.locate(['basic_auth_users', name], 'key');
    if (name === '') problems.report(place, 'a user has no name; give it one');
    if (name.includes(':'))
      problems.report(place, 'a user has a colon in its name, where the password would begin; give it another name');
  }
}

function isThreadRefused(): boolean {
  // Undefined without --permission, contrary to its type.
  const { permission }: { readonly permission?: NodeJS.ProcessPermission } = process;
  return permission ? !permission.has('worker') : false;
}

function checkRateLimit({ config, source, problems }: Checked): void {
  const { interval, burst } = config.rate_limit;
  if (interval === 0 || burst !== 0) return;
  problems.report(source.locate(['rate_limit', 'burst']), 'must be at least 1, or no request would ever be answered');
}

function at(key: TlsKey): Path {
  return ['tls_server_config', key];
}
