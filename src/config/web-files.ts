import type { Secret } from '../lib/secret.ts';
import { certificatesFile, type OpenFile, privateKeyFile } from './open-file.ts';
import type { Partly } from './structure.ts';
import type { TlsServerFile } from './web-schema.ts';

/** The certificates and the key of a web configuration, out of its files or as they stand in it; PEM. */
export interface OpenedWeb {
  readonly cert: string | undefined;
  readonly key: Secret | undefined;
  readonly clientCa: string | undefined;
}

export async function openWebFiles(tls: Partly<TlsServerFile> | undefined, open: OpenFile): Promise<OpenedWeb> {
  const at = (key: keyof TlsServerFile) => ['tls_server_config', key];
  return {
    cert: tls?.cert ?? (await open(tls?.cert_file, at('cert_file'), certificatesFile)),
    key: tls?.key ?? (await open(tls?.key_file, at('key_file'), privateKeyFile)),
    clientCa: tls?.client_ca ?? (await open(tls?.client_ca_file, at('client_ca_file'), certificatesFile)),
  };
}
