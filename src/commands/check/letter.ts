import { counted } from '../../lib/counted.ts';
import { dayOf } from '../../lib/day.ts';
import { formatDuration } from '../../lib/duration.ts';
import { oneLine } from '../../lib/one-line.ts';
import { addressOf, type Examination } from './examination.ts';
import { keyHeadersText } from './failure-ill.ts';
import type { Ill } from './ill.ts';
import { percent } from './ills.ts';
import { clockOffsetOf, secondsOf } from './visit.ts';

const dayMs = 86_400_000;
const [margin, labelWidth] = ['    ', 11];

/** The one line of an appliance that programs look for, without its name. */
export function summaryLine({ appliance, findings }: Examination): string {
  const { failure, facts, polled, perMinute } = findings;
  if (failure) {
    const { reason, message } = failure;
    if (reason === 'unauthorized') return `reachable, but the key is refused (${message})`;
    return reason === 'unproven' ? `reachable, but it does not answer as the API does (${message})` : message;
  }
  const trust = appliance.tls.fingerprintSha256
    ? 'certificate pinned'
    : appliance.tls.insecureSkipVerify
      ? 'TLS NOT VERIFIED'
      : 'TLS verified';
  const farms = facts.farms ? counted(facts.farms.length, 'farm') : 'farms unknown';
  const cost = `${polled.length} collectors, about ${counted(Math.ceil(perMinute.calls), 'call')} and ${perMinute.seconds.toFixed(1)} s of its time a minute`;
  return [`reachable, ${trust}, key accepted`, productOf(facts), farms, cost].join(' · ');
}

/** What was found, what it means, and what to do: the lines below the first one. */
export function letter(examination: Examination, ills: readonly Ill[]): readonly string[] {
  const { failure, facts } = examination.findings;
  const things = `${counted(ills.length, 'thing')} to put right`;
  const diagnosis = failure
    ? 'it cannot be polled'
    : ills.length === 0
      ? 'healthy; it can be polled as configured'
      : `${facts.licensed === false ? 'it is deactivated, and little more is known' : 'it can be polled'}; ${things}`;
  return [
    ...rowsOf(examination).map(([label, text]) => row(label, text)),
    row('Diagnosis', diagnosis),
    ...ills.flatMap(({ finding, remedy }, index) => [
      `${margin}${index + 1}. ${finding}`,
      ...remedy.map((line) => `${margin}   ${line}`),
    ]),
    '',
  ];
}

type Row = readonly [label: string, text: string];

function rowsOf(examination: Examination): readonly Row[] {
  const { findings } = examination;
  const { failure, polled, lacking, spared } = findings;
  const proven = findings.calls.some(({ authenticated }) => authenticated);
  const rows: (Row | undefined)[] = [
    ['Reached', reachedText(examination)],
    trustRow(examination),
    proven ? ['Key', `accepted, sent as ${keyHeadersText(examination.appliance.keyHeader)}`] : undefined,
    proven ? ['Release', productOf(findings.facts)] : undefined,
    clockRow(examination),
    failure ? undefined : ['Polled', polled.join(', ')],
    failure ? undefined : ['Cost', costText(examination)],
    spared.length > 0 ? ['Forbidden', `${spared.join(', ')}: their collectors do without`] : undefined,
    lacking.length > 0 ? ['Lacking', `${lacking.join(', ')}: this edition has no API for them`] : undefined,
  ];
  return rows.filter((each) => each !== undefined);
}

function reachedText({ appliance, findings: { calls, failure } }: Examination): string {
  const { text } = addressOf(appliance);
  const answered = calls.filter(({ code }) => /^\d/.test(code));
  if (answered.length === 0)
    return failure?.reason === 'tls' ? `${text}, and left again: see TLS` : `${text} gave no answer`;
  const each = formatDuration((secondsOf(answered) / answered.length) * 1_000);
  return `${text}, ${counted(answered.length, 'call')}, ${each} each`;
}

function trustRow({ appliance, shown, findings, nowMs }: Examination): Row | undefined {
  if (!shown) return undefined;
  const { tls } = appliance;
  const how =
    findings.failure?.reason === 'tls'
      ? 'NOT TRUSTED'
      : tls.fingerprintSha256 !== undefined
        ? 'the pinned certificate'
        : tls.insecureSkipVerify
          ? 'NOT VERIFIED'
          : `verified${tls.ca === undefined ? '' : ' by tls.ca_file'}`;
  const days = Math.floor((shown.endsAtMs - nowMs) / dayMs);
  const left = days < 0 ? 'expired' : `${counted(days, 'day')} left`;
  return ['TLS', `${how}; for ${shown.subject}, valid to ${dayOf(shown.endsAtMs)} (${left})`];
}

function clockRow({ findings }: Examination): Row | undefined {
  const offset = clockOffsetOf(findings.calls);
  if (offset === undefined) return undefined;
  const seconds = formatDuration(Math.abs(offset) * 1_000);
  return ['Clock', Math.abs(offset) < 1 ? 'agrees with this machine' : `${seconds} ${offset > 0 ? 'ahead' : 'behind'}`];
}

function costText({ findings: { perMinute }, settings }: Examination): string {
  const { calls, seconds } = perMinute;
  return `about ${counted(Math.ceil(calls), 'call')} a minute, ${percent(seconds / 60)} of its time; at most ${percent(settings.polling.maxBusyRatio)} is taken`;
}

function productOf({ edition, version }: Examination['findings']['facts']): string {
  return [edition ?? 'edition unknown', version ?? 'release unknown'].map((text) => oneLine(text, 64)).join(' ');
}

function row(label: string, text: string): string {
  return `${margin}${label.padEnd(labelWidth)}${text}`;
}
