import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createCertificate, type Identity } from '../../simulator/certificate.ts';

export const dayMs = 86_400_000;
/** The host name of a certificate unless a test says otherwise. */
export const name = 'shop.example.com';

export interface Issued {
  readonly names?: readonly string[];
  /** Default: the first of the names; empty for none. */
  readonly commonName?: string;
  /** Days from now at which it begins. */
  readonly from?: number;
  readonly until?: number;
  readonly rsa?: boolean;
}

/** One for all: to make an RSA key takes longer than most tests. */
let rsaKey: KeyObject | undefined;

export function issue({
  names = [name],
  commonName = names[0] ?? '',
  from = -1,
  until = 89,
  rsa = false,
}: Issued = {}): Identity {
  return createCertificate({
    subject: commonName === '' ? {} : { CN: commonName },
    altNames: names.map((each) => `DNS:${each}`),
    notBefore: new Date(Date.now() + from * dayMs),
    notAfter: new Date(Date.now() + until * dayMs),
    ...(rsa && { key: (rsaKey ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey) }),
  });
}
