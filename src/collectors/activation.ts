import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import { certificateDateToSeconds } from '../lib/text-date.ts';
import { gauge, stateSet } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { type ApplianceCollector, type CollectContext, transitionStates } from './collector.ts';
import type { ActivationFinding } from './findings.ts';

const status = stateSet(
  'zlb_activation_status',
  'Activation of the appliance; not_applicable on Community (a 402 on any call, GET /system/version, GET /system/info).',
  [],
  transitionStates.activation,
);
const info = gauge(
  'zlb_activation_info',
  'Kind of the activation certificate (GET /certificates/activation/info, type).',
  ['kind'],
);
const notBefore = gauge(
  'zlb_activation_not_before_timestamp_seconds',
  'Unix time at which the activation begins (GET /certificates/activation, Not Before).',
);
const notAfter = gauge(
  'zlb_activation_not_after_timestamp_seconds',
  'Unix time at which the activation ends; a permanent one goes on working without support (GET /certificates/activation, Not After, else days_to_expire of GET /certificates/activation/info, to the day).',
);

type Status = (typeof transitionStates.activation)[number];

interface Activation {
  readonly status: Status;
  readonly kind?: string | undefined;
  readonly notBefore?: number | undefined;
  readonly notAfter?: number | undefined;
}

const daySeconds = 86_400;

/** The activation status by the recipe of WIRE.md §3.19. */
export const activation: ApplianceCollector = {
  name: 'activation',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  touchedBy: ['activation'],
  families: [status, info, notBefore, notAfter],
  async collect(context) {
    const licensed = await isLicensed(context);
    // By now the appliance collector, which comes first, has usually found out.
    const edition = licensed ? (context.facts.edition ?? (await askEdition(context))) : 'enterprise';
    const found =
      edition === 'community'
        ? ({ status: 'not_applicable' } as const)
        : await readActivation(context, licensed, edition);
    return {
      expose: (emit) => exposeActivation(found, emit),
      found: [{ family: status, findings: { activation: toFinding(found), ...(edition ? { edition } : {}) } }],
      states: [{ object: 'activation', labels: {}, state: found.status }],
      facts: {
        licensed,
        ...(edition ? { edition } : {}),
        activationEndSeconds: 'notAfter' in found ? found.notAfter : undefined,
      },
    };
  },
  withoutReading: (emit) => emit.state(status, {}, 'unknown'),
};

/** 200 from a call behind the check is the only proof of an activated appliance; 402 the only proof of the opposite. */
async function isLicensed({ read }: CollectContext): Promise<boolean> {
  try {
    await read('readSystemVersion', {});
    return true;
  } catch (error) {
    if (error instanceof ApplianceError && error.reason === 'unlicensed') return false;
    throw error;
  }
}

async function askEdition({ read }: CollectContext): Promise<'community' | 'enterprise' | undefined> {
  const answer = await tolerant(() => read('readSystemInfo', {}));
  const edition = answer.value?.params.edition;
  return edition === 'community' || edition === 'enterprise' ? edition : undefined;
}

async function readActivation(
  context: CollectContext,
  licensed: boolean,
  edition: 'enterprise' | undefined,
): Promise<Activation> {
  const { read, facts } = context;
  const summary = await tolerant(() => read('readActivationInfo', {}));
  const text = await tolerant(() => read('readActivationCertificate', {}));
  const days = summary.value?.params.days_to_expire;
  // A refusal for want of a licence says nothing about the dates, and 0 may be a date that nobody could read (WIRE.md §3.19):
  // the last known end stays true until the file is gone.
  const saysNothing = summary.refused === 'unlicensed' ? text.refused !== 'not_found' : days === 0;
  const held = saysNothing ? facts.activationEndSeconds : undefined;
  // Community answers the check as well; without a named edition, only an answer that it cannot give tells them apart.
  const isEnterprise = edition === 'enterprise' || summary.value !== undefined || text.value !== undefined;
  return {
    status: !licensed ? 'deactivated' : isEnterprise ? 'activated' : 'unknown',
    kind: summary.value?.params.type ?? undefined,
    notBefore: dateIn(text.value, /Not Before\s*: (.+)/),
    notAfter: dateIn(text.value, /Not After\s*: (.+)/) ?? (days ? endFromDays(days, context) : held),
  };
}

interface Tolerated<Value> {
  readonly value?: Value;
  readonly refused?: FailureReason;
}

/** A refusal that the release, the edition, the rights of the key or a missing licence explains; all else is thrown. */
async function tolerant<Value>(call: () => Promise<Value>): Promise<Tolerated<Value>> {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof ApplianceError && ['unlicensed', 'forbidden', 'not_found'].includes(error.reason))
      return { refused: error.reason };
    throw error;
  }
}

function dateIn(text: string | undefined, pattern: RegExp): number | undefined {
  return certificateDateToSeconds(pattern.exec(text ?? '')?.[1]?.trim() ?? '');
}

/**
 * Whole days are cut off, and less than one has two decimals, so the end is known to one step of the count. The last
 * possible moment is taken, and kept while it still is one: so the series stands still until the count first falls, and is
 * exact to one poll from then on.
 */
function endFromDays(days: number, { now, facts }: CollectContext): number {
  const [least, most] = days >= 1 ? [days, days + 1] : [days - 0.01, days + 0.01];
  const earliest = now() / 1_000 + least * daySeconds;
  const latest = Math.ceil(now() / 1_000 + most * daySeconds);
  const held = facts.activationEndSeconds;
  return held !== undefined && held >= earliest && held <= latest ? held : latest;
}

function toFinding({ status: word, kind, notAfter: end }: Activation): ActivationFinding {
  return { status: word, kind, notAfterSeconds: end };
}

function exposeActivation(found: Activation, emit: Emit): void {
  emit.state(status, {}, found.status);
  if (found.kind) emit.info(info, { kind: found.kind });
  emit.sample(notBefore, {}, found.notBefore);
  emit.sample(notAfter, {}, found.notAfter);
}
