import { type CertificateParts, createCertificate, type Identity } from '../../simulator/certificate.ts';

export interface Authority extends Identity {
  /**
   * A certificate for both ends of TLS; names as openssl writes them, such as `DNS:client.test`.
   */
  issue(...altNames: string[]): Identity;
  /** One that is wrong for a client, in one way. */
  issueFlawed(flaw: Flaw): Identity;
}

export type Flaw = Partial<Pick<CertificateParts, 'notBefore' | 'notAfter' | 'usages'>>;

const yearMs = 365 * 86_400_000;

/** Creates an authority that signs certificates. */
export function makeAuthority(name = 'authority'): Authority {
  const dates = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + yearMs) };
  const issuer = createCertificate({ subject: { CN: name }, isAuthority: true, ...dates });
  const make = (altNames: readonly string[], flaw: Flaw = {}): Identity =>
    createCertificate({
      subject: { CN: `client of ${name}` },
      usages: ['clientAuth', 'serverAuth'],
      altNames: altNames.length > 0 ? altNames : ['DNS:client.test'],
      issuer,
      ...dates,
      ...flaw,
    });
  return { ...issuer, issue: (...altNames) => make(altNames), issueFlawed: (flaw) => make([], flaw) };
}
