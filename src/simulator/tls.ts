import { X509Certificate } from 'node:crypto';
import { generate } from 'selfsigned';

export interface TlsMaterial {
  readonly key: string;
  readonly cert: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
}

/** What an appliance presents, and what it presents under the fault `expired_tls`. Many simulated appliances can share it. */
export interface TlsMaterials {
  readonly usual: TlsMaterial;
  readonly expired: TlsMaterial;
}

const dayMs = 86_400_000;

/** With `expired`, what is presented without a fault is out of date as well. */
export async function createTlsMaterials(options: { readonly expired?: boolean } = {}): Promise<TlsMaterials> {
  return { usual: await createTlsMaterial(options), expired: await createTlsMaterial({ expired: true }) };
}

/** Makes self-signed material for 127.0.0.1, in date by the real clock because that is the one TLS clients look at. */
export async function createTlsMaterial({
  expired = false,
}: {
  readonly expired?: boolean;
} = {}): Promise<TlsMaterial> {
  const nowMs = Date.now();
  const made = await generate([{ name: 'commonName', value: 'simulated appliance' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - 30 * dayMs),
    notAfterDate: new Date(expired ? nowMs - dayMs : nowMs + 3_650 * dayMs),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return tlsMaterialOf(made.private, made.cert);
}

/** Adds the fingerprint to a key and a certificate in PEM; throws where the text holds no certificate. */
export function tlsMaterialOf(key: string, cert: string): TlsMaterial {
  const fingerprintSha256 = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  return { key, cert, fingerprintSha256 };
}
