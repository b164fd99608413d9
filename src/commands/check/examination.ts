import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import type { ShownCertificate } from '../shown-certificate.ts';
import type { Findings } from './visit.ts';

/** Everything that is known of one appliance when its letter is written. */
export interface Examination {
  readonly appliance: ApplianceSettings;
  readonly settings: Settings;
  readonly findings: Findings;
  /** Undefined where none could be seen. */
  readonly shown: ShownCertificate | undefined;
  readonly nowMs: number;
}

/** Where an appliance is looked for, as tools take it: a bracketed host for IPv6. */
export function addressOf({ url }: Pick<ApplianceSettings, 'url'>): { host: string; port: number; text: string } {
  const port = Number(url.port || 443);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, text: `${url.hostname}:${port}` };
}
