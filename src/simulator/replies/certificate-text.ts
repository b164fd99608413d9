import { certificateDate } from '../dates.ts';
import type { InstalledLicence, StoredCertificate } from '../world.ts';

/** The long text form of a stored certificate, as `…/info` prints it: the dates are what clients read out of it. */
export function certificateText(certificate: StoredCertificate): string {
  if (certificate.condition === 'garbage') return 'This file holds no certificate.';
  if (certificate.type === 'CSR') return requestText(certificate);
  return longForm({
    subject: certificate.commonName,
    issuer: certificate.issuer,
    notBefore: certificate.notBefore ?? 0,
    notAfter: certificate.notAfter ?? 0,
    pem: certificate.pem,
  });
}

/** The same form for the activation certificate. */
export function licenceText(licence: InstalledLicence): string {
  return longForm({
    subject: licence.hostname,
    issuer: 'Simulated Licences',
    notBefore: licence.notBefore,
    notAfter: licence.notAfter,
    pem: '',
  });
}

interface LongForm {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly pem: string;
}

function longForm({ subject, issuer, notBefore, notAfter, pem }: LongForm): string {
  return `Certificate:
    Data:
        Version: 3 (0x2)
        Serial Number: 4096 (0x1000)
        Signature Algorithm: sha256WithRSAEncryption
        Issuer: C = ES, O = Example Corp, CN = ${issuer}
        Validity
            Not Before: ${certificateDate(notBefore)}
            Not After : ${certificateDate(notAfter)}
        Subject: C = ES, O = Example Corp, CN = ${subject}
        Subject Public Key Info:
            Public Key Algorithm: rsaEncryption
                Public-Key: (2048 bit)
    Signature Algorithm: sha256WithRSAEncryption
${pem || pemBlock('CERTIFICATE', subject)}
`;
}

function requestText({ commonName, pem }: StoredCertificate): string {
  return `Certificate Request:
    Data:
        Version: 1 (0x0)
        Subject: C = ES, O = Example Corp, CN = ${commonName}
        Subject Public Key Info:
            Public Key Algorithm: rsaEncryption
                Public-Key: (2048 bit)
    Signature Algorithm: sha256WithRSAEncryption
${pem || pemBlock('CERTIFICATE REQUEST', commonName)}
`;
}

/** A block that looks like PEM and holds only a name. */
export function pemBlock(label: string, content: string): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(`simulated ${content}`).toString('base64')}\n-----END ${label}-----\n`;
}
