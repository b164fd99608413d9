import type { ConfigError } from '../../config/problems.ts';
import { plural, oneLine } from '../../lib/text.ts';
import type { CommandContext } from '../command.ts';
import { dayMs, dayOf, formatDuration } from '../../lib/time.ts';
import type { FarmProbe } from './farm-probes.ts';
import { hasWaited, secondsOf } from './cost.ts';
import { type ApplianceCheck, clockOffsetOf } from './probe.ts';
import { type Finding, keyHeadersText, percent } from './findings.ts';
import type { Note } from './notes.ts';

export interface CheckReport {
  readonly note: (note: Note) => void;
  appliance(checked: ApplianceCheck, findings: readonly Finding[]): void;
  end(code: number, result?: Note): Promise<void>;
  /** Reports that the configuration was refused. */
  refuse(error: ConfigError): Promise<void>;
}

/** Lines contain names of appliances, which must not break the line or control the terminal. */
const maxLine = 10_000;

/** Creates the report for people; a quiet one has only what is wrong. */
export function createTextReport({ printOut, printErr, shell }: CommandContext, quiet: boolean): CheckReport {
  return {
    note({ text, isWrong = false }) {
      if (isWrong) printOut(text.replace(/^ */, `$&${shell.paint('yellow', 'Warning')}  `));
      else if (!quiet) printOut(text);
    },
    appliance(checked, findings) {
      const ok = checked.probe.failure === undefined;
      if (quiet && ok && findings.length === 0) return;
      const result = ok ? shell.paint('green', 'ok    ') : shell.paint('red', 'FAILED');
      const width = Math.max(...checked.settings.appliances.map(({ name }) => name.length));
      printOut(`${checked.appliance.name.padEnd(width)}  ${result}  ${oneLine(summaryLine(checked), maxLine)}`);
      const lines = [...(quiet ? [] : rowLines(checked, findings)), ...findingLines(findings)];
      for (const line of lines) printOut(oneLine(line, maxLine));
    },
    async end(_code, result) {
      if (result?.isWrong) printErr(result.text);
      else if (result && !quiet) printOut(result.text);
    },
    refuse: async ({ message }) => printErr(message),
  };
}

const [margin, labelWidth] = ['    ', 12];

/** Returns the line of an appliance for programs, without its name. */
function summaryLine(checked: ApplianceCheck): string {
  const { failure, facts, polled, perMinute } = checked.probe;
  if (failure) {
    const { reason, message } = failure;
    if (reason === 'unauthorized') return `reachable, but the key is refused (${message})`;
    if (reason === 'unproven') return `reachable, but its answers are not those of the API (${message})`;
    if (reason === 'forbidden') return `reachable, but the key may not read its farms (${message})`;
    if (reason === 'unlicensed') return `reachable, but it is deactivated (${message})`;
    return reason === 'farms_unread' ? `reachable, but its farms cannot be read (${message})` : message;
  }
  const trust = trustOf(checked) === 'pinned' ? 'certificate pinned' : `TLS ${trustWords[trustOf(checked)]}`;
  const farms = facts.farms ? plural(facts.farms.length, 'farm') : 'farms unknown';
  const cost = `${plural(polled.length, 'collector')}, about ${plural(Math.ceil(perMinute.calls), 'call')} and ${secondsText(perMinute.seconds)} of its time a minute`;
  return [`reachable, ${trust}, key accepted`, releaseOf(facts), farms, cost].filter(Boolean).join(' · ');
}

/** Returns seconds with one decimal, and never 0.0 for a time above 0. */
function secondsText(seconds: number): string {
  return seconds > 0 && seconds < 0.05 ? 'under 0.1 s' : `${seconds.toFixed(1)} s`;
}

function rowLines(checked: ApplianceCheck, findings: readonly Finding[]): readonly string[] {
  const { failure, problems } = checked.probe;
  const wrong = problems.filter(({ level }) => level !== 'unknown').length;
  const toFix = findings.length - wrong;
  const things = [
    ...(toFix > 0 ? [`${plural(toFix, 'thing')} to fix`] : []),
    ...(wrong > 0 ? [`${plural(wrong, 'thing')} wrong on it`] : []),
  ].join(', ');
  const diagnosis = failure
    ? 'it cannot be polled'
    : findings.length === 0
      ? 'healthy; it can be polled as configured'
      : `it can be polled; ${things}`;
  const rows = [...rowsOf(checked), ['Diagnosis', diagnosis] as const];
  return rows.map(([label, text]) => `${margin}${label.padEnd(labelWidth)}${text}`);
}

function findingLines(findings: readonly Finding[]): readonly string[] {
  const lines = findings.flatMap(({ text, remedy }, index) => [
    `${margin}${index + 1}. ${text}`,
    ...remedy.map((line) => `${margin}   ${line}`),
  ]);
  return [...lines, ''];
}

type ReportRow = readonly [label: string, text: string];

function rowsOf(checked: ApplianceCheck): readonly ReportRow[] {
  const { probe } = checked;
  const { failure, polled, unsupported, skipped } = probe;
  const proven = probe.calls.some(({ authenticated }) => authenticated);
  const release = releaseOf(probe.facts);
  const rows: (ReportRow | undefined)[] = [
    ['Reached', reachedText(checked)],
    trustRow(checked),
    proven ? ['Key', `accepted, sent as ${keyHeadersText(checked.appliance.keyHeader)}`] : undefined,
    release ? ['Product', release] : undefined,
    clockRow(checked),
    failure ? undefined : ['Polled', polled.join(', ')],
    failure ? undefined : ['Cost', costText(checked)],
    checked.farmProbes ? ['Probed', probedText(checked.farmProbes)] : undefined,
    checked.l4Only.length > 0 ? ['To probe', l4OnlyText(checked.l4Only)] : undefined,
    skipped.length > 0 ? ['Forbidden', `${skipped.join(', ')}: the rest is read without them`] : undefined,
    unsupported.length > 0
      ? ['Unsupported', `${unsupported.join(', ')}: this appliance has no API for them`]
      : undefined,
  ];
  return rows.filter((each) => each !== undefined);
}

function reachedText({ address: { text }, probe: { calls, failure } }: ApplianceCheck): string {
  const answered = calls.filter((call) => /^\d/.test(call.code) && !hasWaited(call));
  if (failure?.reason === 'nothing_enabled') return `${text}, without a call`;
  if (answered.length === 0) {
    if (failure?.reason === 'tls') return `${text}, without a request: see TLS`;
    return `${text} gave no answer${calls.some(({ code }) => code === 'malformed') ? ' of HTTP' : ''}`;
  }
  const each = formatDuration((secondsOf(answered) / answered.length) * 1_000);
  return `${text}, ${plural(answered.length, 'call')}, ${each} each`;
}

/** Returns what was tried; farms that cannot be reached, or must not be, are findings. */
function probedText(probes: readonly FarmProbe[]): string {
  const accepting = probes.filter(({ isReachable }) => isReachable);
  const reached = accepting.filter(({ isSilent }) => !isSilent);
  const silent = accepting.filter(({ isSilent }) => isSilent).map(({ farm, address }) => `${farm} ${address}`);
  const unanswered = silent.length > 0 ? `; accepted, and no answer from the proxy: ${silent.join(', ')}` : '';
  const untried = probes.filter(({ isReachable, failure }) => isReachable === undefined && failure === undefined);
  const names = reached.map(({ farm, address }) => `${farm} ${address}`);
  const rest = untried.length > 0 ? `; ${plural(untried.length, 'more farm')} not tried` : '';
  return `${plural(reached.length, 'farm')} can be reached from here${names.length > 0 ? `: ${names.join(', ')}` : ''}${unanswered}${rest}; L4 farms with TCP are probed too`;
}

/** The most farms that a line names; an appliance may have hundreds. */
const maxNamed = 20;

/** Returns what the exporter will connect to by default. */
function l4OnlyText(probes: readonly FarmProbe[]): string {
  const names = probes.slice(0, maxNamed).map(({ farm, address }) => `${farm} ${address}`);
  const rest = probes.length > maxNamed ? ` and ${plural(probes.length - maxNamed, 'more farm')}` : '';
  return `L4 farms, by a TCP connection each: ${names.join(', ')}${rest}; to switch it off: collectors: { vip: { enabled: false } }`;
}

type Trust = keyof typeof trustWords;

const trustWords = {
  not_trusted: 'NOT TRUSTED',
  pinned: 'the pinned certificate',
  not_verified: 'NOT VERIFIED',
  verified: 'verified',
} as const;

export function trustOf({ appliance: { tls }, probe }: ApplianceCheck): Trust {
  if (probe.failure?.reason === 'tls') return 'not_trusted';
  if (tls.fingerprintSha256 !== undefined) return 'pinned';
  return tls.insecureSkipVerify ? 'not_verified' : 'verified';
}

function trustRow(checked: ApplianceCheck): ReportRow | undefined {
  const { appliance, shown, nowMs } = checked;
  if (!shown) return undefined;
  const trust = trustOf(checked);
  const how = trust === 'verified' && appliance.tls.ca !== undefined ? 'verified by tls.ca_file' : trustWords[trust];
  const days = Math.floor((shown.endsAtMs - nowMs) / dayMs);
  const left = Number.isNaN(days) ? 'its end cannot be read' : days < 0 ? 'expired' : `${plural(days, 'day')} left`;
  return ['TLS', `${how}; for ${shown.subject}, valid to ${dayOf(shown.endsAtMs)} (${left})`];
}

function clockRow({ probe }: ApplianceCheck): ReportRow | undefined {
  const offset = clockOffsetOf(probe.calls);
  if (offset === undefined) return undefined;
  const seconds = formatDuration(Math.abs(offset) * 1_000);
  return ['Clock', Math.abs(offset) < 1 ? 'agrees with this machine' : `${seconds} ${offset > 0 ? 'ahead' : 'behind'}`];
}

function costText({ probe: { perMinute, facts }, settings }: ApplianceCheck): string {
  const { calls, seconds } = perMinute;
  const meanwhile = facts.farms?.some(({ isSilent }) => isSilent) ? ', while a proxy hangs' : '';
  return `about ${plural(Math.ceil(calls), 'call')} a minute${meanwhile}, ${percent(seconds / 60)} of its time; at most ${percent(settings.polling.maxBusyRatio)} is taken`;
}

/** Returns the product, its release and its edition as far as they are known. */
function releaseOf({ product, version, edition }: ApplianceCheck['probe']['facts']): string {
  return [product, version, edition].flatMap((text) => (text ? oneLine(text, 64) : [])).join(' ');
}
