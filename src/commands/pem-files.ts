import { createSecureContext } from 'node:tls';
import { errorCode, type Parsed } from '../lib/check.ts';
import { certificatesIn, privateKeyIn } from '../lib/pem.ts';
import { textOf, type TlsFiles } from './server-address.ts';
import { UsageError } from './command.ts';

/** Reads files of PEM; `prefix` begins the names of their flags. Throws a UsageError for a wrong one. */
export async function readPemFiles(
  files: { readonly [Name in keyof TlsFiles]: string | undefined },
  prefix: string,
): Promise<TlsFiles> {
  const ca = files.ca && (await contentOf(`--${prefix}ca-file`, files.ca, certificatesIn));
  const cert = files.cert && (await contentOf(`--${prefix}cert-file`, files.cert, certificatesIn));
  const key = files.key && (await contentOf(`--${prefix}key-file`, files.key, privateKeyIn));
  const certificates = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  refuseUnusable(certificates);
  return certificates;
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

async function contentOf<T>(what: string, path: string, read: (text: string) => Parsed<T>): Promise<T> {
  const outcome = read(await textOf(what, path, 'certificates'));
  if ('problem' in outcome) throw new UsageError(`${what} ${outcome.problem}`);
  return outcome.value;
}
