import { isOneOf } from '../lib/check.ts';

/** The repair of an alert: a recipe, and the labels that are its parameters. */
export interface Repair {
  readonly recipe: string;
  /** Parameters of the recipe, each with the label that has its value. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Labels that the alert must have, with their values: the repair helps in no other case. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
}

const farm = { farm: 'farm' };

/** A delivery can be taken back: the certificate before it stays in the store. */
const delivery: Repair = { recipe: 'deliver', parameters: { certificate: 'file' } };

/**
 * The repairs of the alerts in alerts/*.rules.yml. Only what can be taken back is proposed, and
 * nothing without a person.
 */
export const repairs: Readonly<Record<string, Repair>> = {
  // A critical farm runs, and has no backend that is up; the proxy of a silent one hangs.
  ZlbFarmDown: { recipe: 'restart-farm', parameters: farm, only: { status: ['down', 'silent'] } },
  ZlbFarmNeedsRestart: { recipe: 'restart-farm', parameters: farm },
  ZlbCertificateExpirySoon: delivery,
  ZlbCertificateExpiryImminent: delivery,
  ZlbServedCertificateDiffers: { recipe: 'restart-farm', parameters: farm },
  ZlbMaintenanceForgotten: {
    recipe: 'restore-backend',
    parameters: { farm: 'farm', service: 'service', backend: 'backend' },
  },
  ZlbBackupTooOld: { recipe: 'backup', parameters: {} },
};

/** Returns the repair of an alert with these labels; undefined if it has none. */
export function repairOf(labels: Readonly<Record<string, string>>): Repair | undefined {
  const { alertname } = labels;
  const repair = isOneOf(Object.keys(repairs), alertname) ? repairs[alertname] : undefined;
  const fits = Object.entries(repair?.only ?? {}).every(([label, values]) => isOneOf(values, labels[label]));
  return fits ? repair : undefined;
}
