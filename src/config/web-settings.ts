import { assert } from '../lib/check.ts';
import { createFiles, type Files } from './files.ts';
import { type Path, Problems, type ReportProblem } from './problems.ts';
import { createSettingsReader } from './settings-reader.ts';
import { type Environment, readYamlFile, type YamlSource, variablesOf } from './yaml-file.ts';
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

export type WebTls = ReturnType<typeof tlsSettings>;

interface WebSettingsSource {
  readonly file: string;
  readonly env: Environment;
  /** Reads the files; given by a caller that asks later whether they changed. */
  readonly files?: Files;
}

const readSettings = createSettingsReader(webSchema);

/** Loads a web configuration; rejects with a ConfigError that names all problems. */
export async function loadWebSettings({ file, env, files = createFiles() }: WebSettingsSource): Promise<WebSettings> {
  const problems = new Problems();
  const source = await readYamlFile({
    file,
    remedy: 'Give --web.config.file the path of a YAML file',
    minimalContent: 'write {} into it for plain HTTP without passwords, or what docs/web-configuration.md explains',
    variable: variablesOf(env),
    readText: files.readText,
    problems,
  });
  if (source === undefined) throw problems.earlyError();
  const { config, settings } = await readSettings({ source, readText: files.readText, problems });
  checkWeb(config, source, problems);
  const { cert, key } = settings.tlsServerConfig ?? {};
  const mismatch = cert !== undefined && key && pairProblem(cert, key, writtenKey(config, 'cert'));
  if (mismatch) problems.report(source.locate(at(writtenKey(config, 'key'))), mismatch);
  if (!problems.isEmpty) throw problems.error();
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
    /** Added to every response. */
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

type TlsKey = keyof TlsServerFile;

/** Reports values of a web configuration that are valid alone and wrong in combination. */
function checkWeb(config: WebFile, source: YamlSource, problems: Problems): void {
  const report = problems.reportIn(source);
  const tls = config.tls_server_config;
  if (tls) {
    requireCertificate(tls, report);
    checkClients(tls, report);
    const isWritten = (key: TlsKey): boolean => source.locate(at(key)).written !== undefined;
    checkTlsVersions(tls, isWritten('max_version') ? 'max_version' : 'min_version', report);
  }
  checkUsers(Object.keys(config.basic_auth_users), report);
  const { interval, burst } = config.rate_limit;
  if (interval !== 0 && burst === 0)
    report(['rate_limit', 'burst'], 'must be at least 1, or no request would ever be answered');
}

function requireCertificate(tls: TlsServerFile, report: ReportProblem): void {
  for (const [inline, file] of [
    ['cert', 'cert_file'],
    ['key', 'key_file'],
    ['client_ca', 'client_ca_file'],
  ] as const) {
    if (tls[inline] !== undefined && tls[file] !== undefined)
      report(at(inline), `contradicts ${file}; remove one of the two`, 'key');
    if (tls[inline] === undefined && tls[file] === undefined && file !== 'client_ca_file')
      report(at(file), 'is missing; add it, or remove tls_server_config to speak plain HTTP');
  }
}

/** Reports what only certificates of clients give a meaning, or need. */
function checkClients(tls: TlsServerFile, report: ReportProblem): void {
  const { client_auth_type: type, client_allowed_sans: sans } = tls;
  const authorities = (['client_ca', 'client_ca_file'] as const).find((key) => tls[key] !== undefined);
  if (type === 'NoClientCert' && authorities !== undefined)
    report(
      at(authorities),
      'has no effect while clients are not asked for a certificate; set client_auth_type to RequireAndVerifyClientCert, or remove it',
    );
  if ((type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert') && authorities === undefined)
    report(
      at('client_auth_type'),
      'needs client_ca_file; without it, a certificate from any public authority would be accepted',
    );
  // A client without a certificate has no name.
  if (sans && !['RequireAnyClientCert', 'RequireClientCert', 'RequireAndVerifyClientCert'].includes(type))
    report(
      at('client_allowed_sans'),
      'has no effect while clients may connect without a certificate; set client_auth_type to RequireAndVerifyClientCert',
    );
}

/** Reports versions that exclude each other at `written`, the key of the two that the file has. */
function checkTlsVersions(
  { min_version: oldest, max_version: newest }: TlsServerFile,
  written: TlsKey,
  report: ReportProblem,
): void {
  const order = [...tlsVersions.keys()];
  if (order.indexOf(oldest) > order.indexOf(newest))
    report(at(written), `leaves no version of TLS: from ${oldest} to ${newest}`);
}

function checkUsers(names: readonly string[], report: ReportProblem): void {
  // Checked here, or the first scrape would get 500.
  if (names.length > 0 && isThreadRefused())
    report(
      ['basic_auth_users'],
      "cannot be checked: passwords are compared in a thread, which Node's permissions refuse here; add --allow-worker beside --permission",
      'key',
    );
  for (const name of names) {
    // The key path of the hash hides a name that may be a misplaced password.
    const place: Path = ['basic_auth_users', name];
    if (name === '') report(place, 'a user has no name; give it one', 'key');
    if (name.includes(':'))
      report(place, 'a user has a colon in its name, where the password would begin; give it another name', 'key');
  }
}

function isThreadRefused(): boolean {
  // Undefined without --permission, contrary to its type.
  const { permission }: { readonly permission?: NodeJS.ProcessPermission } = process;
  return permission ? !permission.has('worker') : false;
}

function at(key: TlsKey): Path {
  return ['tls_server_config', key];
}
