import { createSecureContext } from 'node:tls';
import { Agent } from 'undici';
import { misspeltVariables } from '../../config/environment.ts';
import { readFileText, withHint } from '../../config/files.ts';
import { certificatesIn, privateKeyIn } from '../../lib/pem.ts';
import { errorCode, type Parsed } from '../../lib/check.ts';
import { connectByName } from '../../lib/connect-by-name.ts';
import { maxNameMs, Names } from '../../lib/names.ts';
import { Secret } from '../../lib/secret.ts';
import type { CommandContext } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** The authority of a server, and the certificate of the caller with its key. */
export interface TlsFiles {
  /** PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: Secret;
}

/** The address of the gateway and the credentials of the caller. */
export interface Connection extends TlsFiles {
  /** The URL, without a slash at its end. */
  readonly url: string;
  readonly token: Secret;
}

const defaultUrl = 'http://127.0.0.1:9445';

/** Reads flags, environment variables and the files that they name; a flag wins over a variable. */
export async function readConnection({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Connection> {
  const misspelt = misspeltVariables(env).find(({ meant }) => meant.startsWith('ZLB_ADMIN_'));
  if (misspelt)
    throw new UsageError(
      `the variable ${misspelt.variable} has no effect; did you mean ${misspelt.meant}? Set that, or unset this`,
    );
  const url = parseUrl(
    flags['admin.url'] ?? env.ZLB_ADMIN_URL ?? defaultUrl,
    '--admin.url (or ZLB_ADMIN_URL) must be a URL such as https://lb-admin.example.com:9445',
  );
  refuseOpenSecret(url, 'a token');
  const certificates = await readTlsFiles(flags, url, 'admin.');
  return { url: url.href.replace(/(?<!\/)\/+$/, ''), token: await readToken({ flags, env }), ...certificates };
}

/** Reads the certificates and the key for an https URL, by the flags with a prefix. */
export async function readTlsFiles(
  flags: CommandContext['flags'],
  url: URL,
  prefix: 'admin.' | 'exporter.',
): Promise<TlsFiles> {
  const files = {
    ca: flags[`${prefix}ca-file`],
    cert: flags[`${prefix}cert-file`],
    key: flags[`${prefix}key-file`],
  };
  if ((files.cert === undefined) !== (files.key === undefined))
    throw new UsageError(`--${prefix}cert-file and --${prefix}key-file go together: a certificate and its key`);
  if (url.protocol === 'http:' && (files.ca ?? files.cert) !== undefined)
    throw new UsageError(`certificates are only used with https; write --${prefix}url=https://…`);
  const ca = files.ca && (await contentOf(`--${prefix}ca-file`, files.ca, certificatesIn));
  const cert = files.cert && (await contentOf(`--${prefix}cert-file`, files.cert, certificatesIn));
  const key = files.key && (await contentOf(`--${prefix}key-file`, files.key, privateKeyIn));
  const certificates = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  refuseUnusable(certificates);
  return certificates;
}

/** Creates an agent with these certificates. */
export function tlsAgent({ ca, cert, key }: TlsFiles, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    connect: connectByName(new Names(), maxNameMs, {
      // Set here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      ...(ca && { ca }),
      ...(cert && key && { cert, key: key.reveal() }),
    }),
  });
}

function refuseUnusable({ ca, cert, key }: TlsFiles): void {
  try {
    createSecureContext({ ca, cert, key: key?.reveal() });
  } catch (error) {
    throw new UsageError(
      `the certificates given cannot be used (${errorCode(error)}): the key must be that of the certificate`,
    );
  }
}

/** Parses an http or https URL; throws a UsageError with the given message. */
export function parseUrl(text: string, message: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (plain && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  // The message does not repeat the text: it may be a secret in the wrong place.
  throw new UsageError(message);
}

/** Throws a UsageError for plain HTTP over a network, where others could read the secret. */
export function refuseOpenSecret({ protocol, hostname, host }: URL, secret: 'a token' | 'a password'): void {
  if (protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return;
  throw new UsageError(
    `${secret} is not sent to ${host} over plain http, where others can read it; give the listener tls and write https://, or go through a tunnel to 127.0.0.1`,
  );
}

async function readToken({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Secret> {
  const file = flags['admin.token-file'] ?? env.ZLB_ADMIN_TOKEN_FILE;
  if (file === undefined && env.ZLB_ADMIN_TOKEN === undefined)
    throw new UsageError(
      'no token: put it into a file of yours and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE (or ZLB_ADMIN_TOKEN)',
    );
  const [source, text] =
    file === undefined
      ? ['ZLB_ADMIN_TOKEN', env.ZLB_ADMIN_TOKEN ?? '']
      : ['the token file', await textOf('the token file', file, 'key')];
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(
      `${source} holds no token: one line of letters, digits and signs, as zlb-exporter token prints`,
    );
  return new Secret(token);
}

async function contentOf<T>(what: string, path: string, read: (text: string) => Parsed<T>): Promise<T> {
  const outcome = read(await textOf(what, path, 'certificates'));
  if ('problem' in outcome) throw new UsageError(`${what} ${outcome.problem}`);
  return outcome.value;
}

/** Reads the text of a file; throws a UsageError that says which file cannot be read. */
export async function textOf(what: string, path: string, purpose: 'key' | 'certificates'): Promise<string> {
  const text = await readFileText(path, purpose);
  if ('problem' in text) throw new UsageError(`${what} ${withHint(text.problem, path)}`);
  return text.value;
}
