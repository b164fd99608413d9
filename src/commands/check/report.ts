import type { ConfigError } from '../../config/problems.ts';
import { counted, oneLine } from '../../lib/text.ts';
import type { CommandContext } from '../command.ts';
import type { ApplianceCheck } from './probe.ts';
import type { Finding } from './findings.ts';
import type { Note } from './notes.ts';

/** Reports the results of a check as they come. */
export interface Report {
  readonly note: (note: Note) => void;
  appliance(checked: ApplianceCheck, findings: readonly Finding[]): void;
  /** Reports the result; resolves to the exit code. */
  end(code: number, result?: Note): Promise<number>;
  /** Reports that the configuration was refused; without it, the error is the report. */
  refuse?(error: ConfigError): Promise<void>;
}

/** Creates the report for people; a quiet one has only what is wrong. */
export function createTextReport({ say, warn, shell }: CommandContext, quiet: boolean): Report {
  return {
    note({ text, isWrong = false }) {
      if (isWrong) say(text.replace(/^ */, `$&${shell.paint('yellow', 'Warning')}  `));
      else if (!quiet) say(text);
    },
    appliance(checked, findings) {
      const ok = checked.probe.failure === undefined;
      if (quiet && ok && findings.length === 0) return;
      const result = ok ? shell.paint('green', 'ok    ') : shell.paint('red', 'FAILED');
      const width = Math.max(...checked.settings.appliances.map(({ name }) => name.length));
      say(`${checked.appliance.name.padEnd(width)}  ${result}  ${summaryLine(checked)}`);
      findingLines(findings).forEach(say);
    },
    async end(code, result) {
      if (result?.isWrong) warn(result.text);
      else if (result && !quiet) say(result.text);
      return code;
    },
  };
}

const margin = '    ';

/** Returns the line of an appliance, without its name. */
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
  const farms = facts.farms ? counted(facts.farms.length, 'farm') : 'farms unknown';
  const cost = `${counted(polled.length, 'collector')}, about ${counted(Math.ceil(perMinute.calls), 'call')} and ${secondsText(perMinute.seconds)} of its time a minute`;
  return [`reachable, ${trustWords[trustOf(checked)]}, key accepted`, releaseOf(facts), farms, cost]
    .filter(Boolean)
    .join(' · ');
}

/** Returns seconds with one digit, and never none for a time that is not none. */
function secondsText(seconds: number): string {
  return seconds > 0 && seconds < 0.05 ? 'under 0.1 s' : `${seconds.toFixed(1)} s`;
}

/** Returns the findings with their remedies. */
function findingLines(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ text, remedy }, index) => [
    `${margin}${index + 1}. ${text}`,
    ...remedy.map((line) => `${margin}   ${line}`),
  ]);
}

/** How the certificate of the API was checked. */
type Trust = keyof typeof trustWords;

const trustWords = {
  not_trusted: 'TLS NOT TRUSTED',
  pinned: 'certificate pinned',
  not_verified: 'TLS NOT VERIFIED',
  verified: 'TLS verified',
} as const;

export function trustOf({ appliance: { tls }, probe }: ApplianceCheck): Trust {
  if (probe.failure?.reason === 'tls') return 'not_trusted';
  if (tls.fingerprintSha256 !== undefined) return 'pinned';
  return tls.insecureSkipVerify ? 'not_verified' : 'verified';
}

/** Returns what is known of the product, its release and its edition; an empty text if nothing. */
function releaseOf({ product, version, edition }: ApplianceCheck['probe']['facts']): string {
  return [product, version, edition].flatMap((text) => (text ? oneLine(text, 64) : [])).join(' ');
}
