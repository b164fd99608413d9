import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type CertificateParts, createCertificate } from './certificate.ts';

export interface TlsMaterial {
  readonly key: string;
  readonly cert: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
}

/**
 * The certificate of an appliance, and the one under the fault `expired_tls`. Many simulated
 * appliances can share both.
 */
export interface TlsMaterials {
  readonly usual: TlsMaterial;
  readonly expired: TlsMaterial;
}

interface MaterialParts extends Pick<CertificateParts, 'key' | 'serial'> {
  readonly expired?: boolean;
}

const dayMs = 86_400_000;

/**
 * Makes both certificates, the second at its first use. With `expired`, the usual one is out of date
 * as well.
 */
export function createTlsMaterials(options: { readonly expired?: boolean } = {}): TlsMaterials {
  const usual = createTlsMaterial(options);
  let expired: TlsMaterial | undefined;
  return {
    usual,
    get expired() {
      return (expired ??= expiredMaterial(usual));
    },
  };
}

/**
 * Makes the certificate that this one is after its end: with its key, names and number. A pin is of
 * the whole certificate, and so does not fit both.
 */
export function expiredMaterial({ key: pem, cert }: TlsMaterial): TlsMaterial {
  const { serialNumber } = new X509Certificate(cert);
  return createTlsMaterial({ expired: true, key: createPrivateKey(pem), serial: BigInt(`0x${serialNumber}`) });
}

/**
 * Makes a self-signed certificate for 127.0.0.1, in date by the real clock, which TLS clients use.
 */
export function createTlsMaterial({ expired = false, ...own }: MaterialParts = {}): TlsMaterial {
  const nowMs = Date.now();
  const { key, cert } = createCertificate({
    ...own,
    subject: { CN: 'simulated appliance' },
    notBefore: new Date(nowMs - 30 * dayMs),
    notAfter: new Date(expired ? nowMs - dayMs : nowMs + 3_650 * dayMs),
    altNames: ['DNS:localhost', 'IP:127.0.0.1'],
  });
  return tlsMaterialOf(key, cert);
}

/**
 * Adds the fingerprint to a key and a certificate in PEM; throws where the text holds no
 * certificate.
 */
export function tlsMaterialOf(key: string, cert: string): TlsMaterial {
  const fingerprintSha256 = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  return { key, cert, fingerprintSha256 };
}
