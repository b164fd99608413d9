import { generate } from 'selfsigned';

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Type 1 is an e-mail address, 2 a DNS name, 6 a URI, 7 an IP address. */
export type AlternativeName =
  | { readonly type: 1 | 2 | 6; readonly value: string }
  | { readonly type: 7; readonly ip: string };

export interface Authority extends Identity {
  /** A certificate for both ends of TLS. */
  issue(...names: AlternativeName[]): Promise<Identity>;
  /** One that is wrong for a client, in one way. */
  issueFlawed(flaw: Flaw): Promise<Identity>;
}

export interface Flaw {
  readonly notBeforeDate?: Date;
  readonly notAfterDate?: Date;
  readonly extKeyUsage?: { readonly serverAuth: true; readonly clientAuth?: true };
}

/** Who signs certificates. */
export async function makeAuthority(name = 'authority'): Promise<Authority> {
  const own = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { key: own.private, cert: own.cert };
  async function make(
    altNames: AlternativeName[],
    { extKeyUsage = { clientAuth: true, serverAuth: true }, ...dates }: Partial<Flaw> = {},
  ): Promise<Identity> {
    const made = await generate([{ name: 'commonName', value: `client of ${name}` }], {
      keyType: 'ec',
      algorithm: 'sha256',
      ca,
      ...dates,
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'extKeyUsage', ...extKeyUsage },
        { name: 'subjectAltName', altNames: altNames.length > 0 ? altNames : [{ type: 2, value: 'client.test' }] },
      ],
    });
    return { key: made.private, cert: made.cert };
  }
  return { ...ca, issue: (...altNames) => make(altNames), issueFlawed: (flaw) => make([], flaw) };
}
