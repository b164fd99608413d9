import { X509Certificate } from 'node:crypto';

import type { Outcome } from './problems.ts';

/** The certificates of a PEM text alone: a private key in the same file stays out of memory. */
export function certificatesIn(text: string): Outcome<string> {
  const found = text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (found.length === 0) {
    return {
      problem:
        'holds no PEM certificate; it needs a part from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"',
    };
  }
  const broken = found.findIndex((pem) => !isCertificate(pem));
  if (broken === -1) return { value: `${found.join('\n')}\n` };
  return { problem: `certificate ${broken + 1} of ${found.length} in it is damaged; export it again` };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
