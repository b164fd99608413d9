import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import type { ShownCertificate } from '../shown-certificate.ts';
import type { ProbeResult } from './probe.ts';

/** Everything that the report about one appliance needs. */
export interface ApplianceCheck {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly probe: ProbeResult;
  /** Undefined when the server showed no certificate. */
  readonly shown: ShownCertificate | undefined;
  readonly nowMs: number;
}

/** Returns the address of an appliance; `text` has a bracketed host for IPv6, as tools expect. */
export function addressOf({ url }: Pick<ApplianceSettings, 'url'>): { host: string; port: number; text: string } {
  const port = Number(url.port || 443);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, text: `${url.hostname}:${port}` };
}
