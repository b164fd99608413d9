import { statesOf } from '../lib/states.ts';
import { ApplianceError, type FailureReason, failureReasons } from '../appliance/errors.ts';
import { dateToSeconds } from '../appliance/text-date.ts';
import type { ApplianceWideCollector, CollectContext, Edition } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface Activation {
  readonly status: (typeof statesOf.activation)[number];
  /** False after a 402; undefined before it was read. */
  readonly isActivated: boolean | undefined;
  readonly edition: Edition | undefined;
  readonly kind: string | undefined;
  /** Unix seconds, as the others. */
  readonly notBeforeSeconds: number | undefined;
  readonly notAfterSeconds: number | undefined;
}

const activationRows = rowsOf((reading: Activation) => [reading], {});
const knownKindRows = rowsOf((reading: Activation) => (reading.kind ? [reading] : []), {
  kind: ({ kind }) => kind ?? '',
});

const nothingKnown = {
  status: 'unknown',
  isActivated: undefined,
  edition: undefined,
  kind: undefined,
  notBeforeSeconds: undefined,
  notAfterSeconds: undefined,
} as const satisfies Activation;

const daySeconds = 86_400;

/** The activation status; docs/api.md §3.19 has the recipe. */
export const activationCollector: ApplianceWideCollector<Activation> = {
  name: 'activation',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  refreshedBy: ['activation'],
  async collect(context) {
    const isActivated = await askWhetherActivated(context);
    // By now the appliance collector, which comes first, has usually found out.
    const edition = isActivated ? (context.facts.edition ?? (await askEdition(context))) : 'enterprise';
    if (edition === 'community') return { ...nothingKnown, status: 'not_applicable', isActivated, edition };
    return await readActivation(context, isActivated, edition);
  },
  withoutReading: nothingKnown,
  entity: activationRows.entity('activation', ({ status }) => status),
  families: [
    activationRows.stateSet(
      'zlb_activation_status',
      'Activation of the appliance; not_applicable on Community (a 402 on any call, GET /system/version, GET /system/info).',
      statesOf.activation,
      ({ status }) => status,
    ),
    knownKindRows.info(
      'zlb_activation_info',
      'Kind of the activation certificate (GET /certificates/activation/info, type).',
    ),
    activationRows.gauge(
      'zlb_activation_not_before_timestamp_seconds',
      'Unix time at which the activation begins (GET /certificates/activation, Not Before).',
      ({ notBeforeSeconds }) => notBeforeSeconds,
    ),
    activationRows.gauge(
      'zlb_activation_not_after_timestamp_seconds',
      'Unix time at which the activation ends; a permanent one goes on working without support (GET /certificates/activation, Not After, else days_to_expire of GET /certificates/activation/info, to the day).',
      ({ notAfterSeconds }) => notAfterSeconds,
    ),
  ],
};

/**
 * Returns true after a 200 from a call behind the check, false after a 402: only these are proofs.
 */
async function askWhetherActivated({ read }: CollectContext): Promise<boolean> {
  try {
    await read('readSystemVersion', {});
    return true;
  } catch (error) {
    if (error instanceof ApplianceError && error.reason === 'unlicensed') return false;
    throw error;
  }
}

async function askEdition({ read }: CollectContext): Promise<Edition | undefined> {
  const answer = await tolerant(() => read('readSystemInfo', {}));
  return editionOf(answer.value?.params.edition);
}

/** Returns the edition that the appliance names; undefined for any other word. */
export function editionOf(word: string | null | undefined): Edition | undefined {
  return word === 'community' || word === 'enterprise' ? word : undefined;
}

async function readActivation(
  context: CollectContext,
  isActivated: boolean,
  edition: 'enterprise' | undefined,
): Promise<Activation> {
  const { read, facts } = context;
  // The refusal with 402 is proof enough: a licence that is broken may not be readable either.
  const tolerated = isActivated ? explained : failureReasons;
  const summary = await tolerant(() => read('readActivationInfo', {}), tolerated);
  const text = await tolerant(() => read('readActivationCertificate', {}), tolerated);
  const days = summary.value?.params.days_to_expire;
  // Only these two refusals say that there is nothing to read, and 0 may be an unreadable date: the
  // last known end stays true until the file is gone.
  const isRefused = summary.refused !== undefined && !['forbidden', 'not_found'].includes(summary.refused);
  const isInconclusive = isRefused ? text.refused !== 'not_found' : days === 0;
  const lastKnownEnd = isInconclusive ? facts.activationEndSeconds : undefined;
  // Community answers the check as well; without a named edition, only a response that it cannot
  // give tells them apart.
  const isEnterprise = edition === 'enterprise' || summary.value !== undefined || text.value !== undefined;
  return {
    status: !isActivated ? 'deactivated' : isEnterprise ? 'activated' : 'unknown',
    isActivated,
    edition,
    kind: summary.value?.params.type ?? undefined,
    notBeforeSeconds: dateIn(text.value, /Not Before\s*: (.+)/),
    notAfterSeconds: dateIn(text.value, /Not After\s*: (.+)/) ?? (days ? endFromDays(days, context) : lastKnownEnd),
  };
}

interface Tolerated<Value> {
  readonly value?: Value;
  readonly refused?: FailureReason;
}

/** Refusals that release, edition, rights of the key or a deactivated appliance explain. */
const explained: readonly FailureReason[] = ['unlicensed', 'forbidden', 'not_found'];

/** Returns the result, or a refusal that is tolerated; throws all other errors. */
async function tolerant<Value>(
  call: () => Promise<Value>,
  tolerated: readonly FailureReason[] = explained,
): Promise<Tolerated<Value>> {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof ApplianceError && tolerated.includes(error.reason)) return { refused: error.reason };
    throw error;
  }
}

function dateIn(text: string | undefined, pattern: RegExp): number | undefined {
  return dateToSeconds(pattern.exec(text ?? '')?.[1]?.trim() ?? '');
}

/**
 * Returns the end of the activation in Unix seconds from the days that are left. Whole days are cut
 * off, and less than one has two decimals, so the end is known to one step of the count. The last
 * possible moment is taken, and kept while it still is one: so the series stands still until the
 * count first falls, and is exact to one poll from then on.
 */
function endFromDays(days: number, { now, facts }: CollectContext): number {
  const [min, max] = days >= 1 ? [days, days + 1] : [days - 0.01, days + 0.01];
  const earliest = now() / 1_000 + min * daySeconds;
  const latest = Math.ceil(now() / 1_000 + max * daySeconds);
  const last = facts.activationEndSeconds;
  return last !== undefined && last >= earliest && last <= latest ? last : latest;
}
