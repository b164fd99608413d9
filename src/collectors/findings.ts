import type { Family } from '../metrics/family.ts';

/**
 * What a reading says as plain data, for the pages that people read: of the whole appliance, or, by a collector that asks
 * farm by farm, of that farm. All that the readings of an appliance say is put together field by field.
 */
export interface Findings {
  readonly version?: string;
  readonly edition?: string;
  readonly hostname?: string;
  readonly farms?: readonly FarmFinding[];
  /** Farms that the configuration leaves out. */
  readonly farmsLeftOut?: number;
  readonly certificateStore?: readonly CertificateFinding[];
  readonly activation?: ActivationFinding;
  readonly interfaces?: readonly InterfaceFinding[];
  /** Absent where the appliance lists none because the farm does not run: that does not mean that there are none. */
  readonly backends?: readonly BackendFinding[];
  /** As configured, whatever their states; absent where the configuration was not read. */
  readonly configuredBackends?: readonly ConfiguredBackend[] | undefined;
  readonly hasHealthCheck?: boolean | undefined;
  /** Files that the farm presents. */
  readonly certificates?: readonly string[];
}

/** They stand and fall with the samples of a family: where the limit of series leaves those out, these are left out as well. */
export interface Found {
  readonly family: Family;
  readonly findings: Findings;
}

export interface FarmFinding {
  readonly name: string;
  readonly profile: string;
  /** A word of `transitionStates.farm`. */
  readonly state: string;
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  readonly established?: number | undefined;
  readonly pending?: number | undefined;
}

export interface ConfiguredBackend {
  /** Empty where the farm has no services. */
  readonly service: string;
  /** The label of the metrics: `ip:port`, with `#id` where a service has the address twice. */
  readonly backend: string;
}

export interface BackendFinding extends ConfiguredBackend {
  /** A word of `transitionStates.backend`. */
  readonly state: string;
  readonly established?: number | undefined;
}

export interface CertificateFinding {
  readonly file: string;
  readonly kind: 'certificate' | 'csr';
  readonly commonName: string;
  readonly issuer: string;
  /** A word of `transitionStates.certificate`; the appliance's own, so go by the date as well. */
  readonly state: string;
  readonly notAfterSeconds: number | undefined;
  /** As `zlb_certificate_parse_error`: its dates make no sense to us. */
  readonly isUnreadable: boolean;
}

export interface ActivationFinding {
  /** A word of `transitionStates.activation`. */
  readonly status: string;
  readonly kind?: string | undefined;
  readonly notAfterSeconds?: number | undefined;
}

export interface InterfaceFinding {
  readonly name: string;
  /** A word of `transitionStates.interface`. */
  readonly state: string;
}
