import { readFileText, withHint } from '../config/files.ts';
import type { Secret } from '../lib/secret.ts';
import type { Flags } from './flags.ts';
import { UsageError } from './command.ts';

/** The authority of a server, and the certificate of the caller with its key. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: Secret;
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
export function assertSecretProtected({ protocol, hostname, host }: URL, secret: 'a token' | 'a password'): void {
  if (protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return;
  throw new UsageError(
    `${secret} is not sent to ${host} over plain http, where others can read it; give the listener tls and write https://, or go through a tunnel to 127.0.0.1`,
  );
}

/** Reads the certificates and the key for an https URL, by the flags with a prefix. */
export async function readTlsFiles(flags: Flags, url: URL, prefix: 'admin.' | 'exporter.'): Promise<TlsFiles> {
  const files = {
    ca: flags[`${prefix}ca-file`],
    cert: flags[`${prefix}cert-file`],
    key: flags[`${prefix}key-file`],
  };
  if ((files.cert === undefined) !== (files.key === undefined))
    throw new UsageError(`--${prefix}cert-file and --${prefix}key-file go together: a certificate and its key`);
  if (url.protocol === 'http:' && (files.ca ?? files.cert) !== undefined)
    throw new UsageError(`certificates are only used with https; write --${prefix}url=https://…`);
  if ((files.ca ?? files.cert) === undefined) return {};
  // Loaded on demand: most plug-ins ask without certificates, a thousand times a minute.
  const { readPemFiles } = await import('./pem-files.ts');
  return await readPemFiles(files, prefix);
}

/** Reads the text of a file; throws a UsageError that says which file cannot be read. */
export async function readTextFile(what: string, path: string, purpose: 'key' | 'certificates'): Promise<string> {
  const text = await readFileText(path, purpose);
  if ('error' in text) throw new UsageError(`${what} ${withHint(text, path).error}`);
  return text.value;
}
