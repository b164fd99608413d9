export interface StoredCertificate {
  readonly file: string;
  readonly type: 'Certificate' | 'CSR';
  commonName: string;
  issuer: string;
  /** Milliseconds; undefined when the file cannot be parsed. */
  notBefore: number | undefined;
  /** Milliseconds; undefined for a CSR and for a file that cannot be parsed. */
  notAfter: number | undefined;
  /**
   * `bad_key` does not load with its key and reads `invalid`; `garbage` cannot be parsed and reads
   * `unknown`.
   */
  condition: 'good' | 'bad_key' | 'garbage';
  pem: string;
  /** The file with the key of a request, which SKUDONET lists. */
  keyFile?: string;
}

export interface AcmeCertificate {
  /** The first of its domains; the store has it as a file with underscores for dots. */
  readonly name: string;
  readonly domains: readonly string[];
  /** Absent while automatic renewal is off. */
  renewal?: AcmeRenewal | undefined;
}

interface AcmeRenewal {
  /** The farm on port 80, or the address, that answers the challenge. */
  readonly farm: string | null;
  readonly vip: string | null;
  readonly force: boolean;
  /** True if the farms with the certificate are restarted after a renewal. */
  readonly restart: boolean;
}
