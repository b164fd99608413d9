import type { Secret } from '../lib/secret.ts';
import type { AdminFile } from './admin-schema.ts';
import { apiKeyFile, certificatesFile, type OpenFile, privateKeyFile } from './open-file.ts';
import type { Path } from './problems.ts';
import type { ApplianceFile } from './schema.ts';
import type { Partly } from './structure.ts';

/** What the files hold that the settings of an appliance name. */
export interface Opened {
  readonly apiKey: Secret | undefined;
  readonly adminApiKey: Secret | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/** What the files hold that the settings of the admin listener name. */
export interface OpenedAdmin {
  /** PEM, like the others. */
  readonly cert: string | undefined;
  readonly key: Secret | undefined;
  readonly clientCa: string | undefined;
}

/** Reads the keys and the authority of the appliance at a path of the configuration. */
export async function openFiles(
  appliance: Partly<ApplianceFile> | undefined,
  at: Path,
  open: OpenFile,
): Promise<Opened> {
  return {
    apiKey: appliance?.api_key ?? (await open(appliance?.api_key_file, [...at, 'api_key_file'], apiKeyFile)),
    adminApiKey:
      appliance?.admin_api_key ??
      (await open(appliance?.admin_api_key_file, [...at, 'admin_api_key_file'], apiKeyFile)),
    ca: await open(appliance?.tls?.ca_file, [...at, 'tls', 'ca_file'], certificatesFile),
  };
}

/** Reads the certificate of the admin listener, its key and the authorities of its clients. */
export async function openAdminFiles(admin: Partly<AdminFile> | undefined, open: OpenFile): Promise<OpenedAdmin> {
  const { cert_file: cert, key_file: key, client_ca_file: clientCa } = admin?.tls ?? {};
  return {
    cert: await open(cert, ['admin', 'tls', 'cert_file'], certificatesFile),
    key: await open(key, ['admin', 'tls', 'key_file'], privateKeyFile),
    clientCa: await open(clientCa, ['admin', 'tls', 'client_ca_file'], certificatesFile),
  };
}
