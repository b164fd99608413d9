import { counted, oneLine } from '../../lib/text.ts';
import { dayOf, formatDuration } from '../../lib/time.ts';
import { addressOf, type ApplianceCheck, clockOffsetOf, secondsOf } from './probe.ts';
import { keyHeadersText, type Finding } from './failure-finding.ts';
import { percent } from './findings.ts';

const dayMs = 86_400_000;
const [margin, labelWidth] = ['    ', 12];

/** Returns the line of an appliance for programs, without its name. */
export function summaryLine({ appliance, probe }: ApplianceCheck): string {
  const { failure, facts, polled, perMinute } = probe;
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

/** Returns the lines below the first one: facts, diagnosis, findings with remedies. */
export function reportLines(checked: ApplianceCheck, findings: readonly Finding[]): readonly string[] {
  const { failure, facts } = checked.probe;
  const things = `${counted(findings.length, 'thing')} to fix`;
  const diagnosis = failure
    ? 'it cannot be polled'
    : findings.length === 0
      ? 'healthy; it can be polled as configured'
      : `${facts.licensed === false ? 'it is deactivated, which hides most facts' : 'it can be polled'}; ${things}`;
  return [
    ...rowsOf(checked).map(([label, text]) => row(label, text)),
    row('Diagnosis', diagnosis),
    ...findings.flatMap(({ text, remedy }, index) => [
      `${margin}${index + 1}. ${text}`,
      ...remedy.map((line) => `${margin}   ${line}`),
    ]),
    '',
  ];
}

type Row = readonly [label: string, text: string];

function rowsOf(checked: ApplianceCheck): readonly Row[] {
  const { probe } = checked;
  const { failure, polled, unsupported, skipped } = probe;
  const proven = probe.calls.some(({ authenticated }) => authenticated);
  const rows: (Row | undefined)[] = [
    ['Reached', reachedText(checked)],
    trustRow(checked),
    proven ? ['Key', `accepted, sent as ${keyHeadersText(checked.appliance.keyHeader)}`] : undefined,
    proven ? ['Release', productOf(probe.facts)] : undefined,
    clockRow(checked),
    failure ? undefined : ['Polled', polled.join(', ')],
    failure ? undefined : ['Cost', costText(checked)],
    skipped.length > 0 ? ['Forbidden', `${skipped.join(', ')}: their collectors work without them`] : undefined,
    unsupported.length > 0 ? ['Unsupported', `${unsupported.join(', ')}: this edition has no API for them`] : undefined,
  ];
  return rows.filter((each) => each !== undefined);
}

function reachedText({ appliance, probe: { calls, failure } }: ApplianceCheck): string {
  const { text } = addressOf(appliance);
  const answered = calls.filter(({ code }) => /^\d/.test(code));
  if (answered.length === 0)
    return failure?.reason === 'tls' ? `${text}, without a request: see TLS` : `${text} gave no answer`;
  const each = formatDuration((secondsOf(answered) / answered.length) * 1_000);
  return `${text}, ${counted(answered.length, 'call')}, ${each} each`;
}

function trustRow({ appliance, shown, probe, nowMs }: ApplianceCheck): Row | undefined {
  if (!shown) return undefined;
  const { tls } = appliance;
  const how =
    probe.failure?.reason === 'tls'
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

function clockRow({ probe }: ApplianceCheck): Row | undefined {
  const offset = clockOffsetOf(probe.calls);
  if (offset === undefined) return undefined;
  const seconds = formatDuration(Math.abs(offset) * 1_000);
  return ['Clock', Math.abs(offset) < 1 ? 'agrees with this machine' : `${seconds} ${offset > 0 ? 'ahead' : 'behind'}`];
}

function costText({ probe: { perMinute }, settings }: ApplianceCheck): string {
  const { calls, seconds } = perMinute;
  return `about ${counted(Math.ceil(calls), 'call')} a minute, ${percent(seconds / 60)} of its time; at most ${percent(settings.polling.maxBusyRatio)} is taken`;
}

function productOf({ edition, version }: ApplianceCheck['probe']['facts']): string {
  return [edition ?? 'edition unknown', version ?? 'release unknown'].map((text) => oneLine(text, 64)).join(' ');
}

function row(label: string, text: string): string {
  return `${margin}${label.padEnd(labelWidth)}${text}`;
}
