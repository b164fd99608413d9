import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { isOneOf } from '../../lib/check.ts';
import type { Recorder } from '../calls/recorder.ts';
import type { Caller } from '../policy/principal.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { AlertSource } from './change.ts';
import type { RecipeTask } from './task.ts';

/** How an alert is repaired: a recipe, and the labels that are its parameters. */
export interface RepairRule {
  readonly recipe: string;
  /** Parameters of the recipe, each with the label that has its value. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Labels that the alert must have, with their values: the repair helps in no other case. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
}

const farm = { farm: 'farm' };

/** A delivery can be taken back: the certificate before it stays in the store. */
const delivery: RepairRule = { recipe: 'deliver', parameters: { certificate: 'file' } };

/**
 * The repairs of the alerts in alerts/*.rules.yml. Only what can be taken back is proposed, and
 * nothing without a person.
 */
export const repairRules: Readonly<Record<string, RepairRule>> = {
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

/** Returns the rule for an alert with these labels; undefined if it has none. */
export function ruleFor(labels: Readonly<Record<string, string>>): RepairRule | undefined {
  const { alertname } = labels;
  const rule = isOneOf(Object.keys(repairRules), alertname) ? repairRules[alertname] : undefined;
  const fits = Object.entries(rule?.only ?? {}).every(([label, values]) => isOneOf(values, labels[label]));
  return fits ? rule : undefined;
}

const Texts = Type.Record(Type.String(), Type.String());

const AlertSchema = Type.Object({
  status: Type.Enum(['firing', 'resolved']),
  labels: Texts,
  annotations: Type.Optional(Texts),
  startsAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T[\\d:.]{8,18}(?:Z|[+-]\\d{2}:\\d{2})$' }),
});
type Alert = Static<typeof AlertSchema>;

/** The webhook of Alertmanager, version 4. */
export const NotificationSchema = Type.Object({
  version: Type.String({ description: '4' }),
  alerts: Type.Array(AlertSchema, { maxItems: 10_000 }),
  truncatedAlerts: Type.Optional(Type.Integer({ minimum: 0, description: 'How many more alerts there are.' })),
});
export type Notification = Static<typeof NotificationSchema>;

/** A recipe that repairs what alerts report, with all alerts that ask for it. */
export interface Repair {
  readonly appliance: string;
  readonly task: RecipeTask;
  alerts: readonly AlertSource[];
}

export interface RepairParts {
  readonly recipes: () => readonly Recipe[];
  readonly appliances: ReadonlyMap<string, unknown>;
  readonly recorder: Pick<Recorder, 'redact'>;
}

/**
 * Returns the repair that one alert asks for; undefined if there is none, or if the token does not
 * cover the appliance.
 */
export function repairFor(
  { recipes, appliances, recorder }: RepairParts,
  { labels, annotations, startsAt }: Alert,
  { principal, token }: Caller,
): Repair | undefined {
  const { alertname = '', appliance = '' } = labels;
  const rule = ruleFor(labels);
  const recipe = recipes().find(({ name }) => name === rule?.recipe);
  if (!rule || !recipe || !appliances.has(appliance) || !principal.covers(appliance)) return undefined;
  const params = Object.fromEntries(
    Object.entries(rule.parameters).flatMap(([name, label]) => {
      const value = labels[label];
      return value === undefined || value === '' ? [] : [[name, valueOf(label, value)]];
    }),
  );
  // Without a folder of renewed certificates, a delivery takes no certificate by its name.
  if (!Object.keys(rule.parameters).every((name) => Object.hasOwn(recipe.parameters, name))) return undefined;
  if (Object.entries(recipe.parameters).some(([name, use]) => use === 'required' && params[name] === undefined))
    return undefined;
  const alert = {
    name: alertname,
    summary: recorder.redact(annotations?.summary, token, 300),
    since: startsAt,
    fingerprint: fingerprintOf(labels),
  };
  return { appliance, task: { recipe, params }, alerts: [alert] };
}

/** Returns a digest of the labels of an alert, which tell it from others. */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}

const maxValueLength = 200;

/** A backend whose address is not unique is labelled `10.0.0.1:80#3`, with its id at the end. */
function valueOf(label: string, value: string): string {
  const id = label === 'backend' ? /#([^#]+)$/.exec(value)?.[1] : undefined;
  return (id ?? value).slice(0, maxValueLength);
}

/** Returns a text that is the same for the same change, also with parameters in another order. */
export function keyOfTask(
  appliance: string,
  recipe: string | undefined,
  parameters: Readonly<Record<string, string>>,
): string {
  return JSON.stringify([appliance, recipe, Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}
