import type { FailureReason } from '../../appliance/errors.ts';
import { dayOf } from '../../lib/day.ts';
import { formatDuration } from '../../lib/duration.ts';
import { ownFingerprintCommand } from '../fingerprint.ts';
import { addressOf, type Examination } from './examination.ts';
import { failureIll } from './failure-ill.ts';
import type { Ill } from './ill.ts';
import { lostAlerts } from './lost-alerts.ts';
import { clockOffsetOf, type Obstacle } from './visit.ts';

const soonMs = 30 * 86_400_000;
/** As the threshold of ZlbApplianceClockWrong. */
const worstClockOffsetSeconds = 60;

/** All that is wrong with an appliance, the worst first. */
export function illsOf(examination: Examination): readonly Ill[] {
  const { failure } = examination.findings;
  return [
    ...(failure ? [failureIll(failure, examination)] : []),
    ...(failure?.reason === 'tls' ? [] : trustIlls(examination)),
    ...(failure ? [] : [...licenceIlls(examination), ...obstacleIlls(examination), ...farmIlls(examination)]),
    ...clockIlls(examination),
    ...(failure ? [] : costIlls(examination)),
  ];
}

function trustIlls({ appliance, shown, nowMs }: Examination): readonly Ill[] {
  if (!shown) return [];
  const { fingerprintSha256: found, endsAtMs } = shown;
  const { insecureSkipVerify, fingerprintSha256: pinned } = appliance.tls;
  const ills: Ill[] = [];
  if (insecureSkipVerify && pinned === undefined)
    ills.push({
      finding: 'insecure_skip_verify is on: whoever is in between reads the key, and nobody notices.',
      remedy: `Write tls: { fingerprint_sha256: '${found}' } in its place, once the appliance says the same in a shell of its own: ${ownFingerprintCommand(addressOf(appliance).port)}`,
    });
  if (endsAtMs < nowMs + soonMs)
    ills.push({
      finding: `The certificate of the API ${endsAtMs < nowMs ? 'expired' : 'expires'} on ${dayOf(endsAtMs)}.`,
      remedy:
        pinned === undefined
          ? 'Renew it on the appliance (System > Settings); a verified one ends all polling on that day.'
          : 'Polling goes on, since it is pinned. When it is renewed, put the fingerprint of the new one into tls.fingerprint_sha256 the same day; zlb-exporter fingerprint prints it.',
    });
  return ills;
}

function licenceIlls({ appliance, settings, findings }: Examination): readonly Ill[] {
  if (findings.facts.licensed !== false) return [];
  const byGateway = settings.admin ? `, or: zlb-exporter admin ${appliance.name} install-activation file=PATH` : '';
  return [
    {
      finding:
        'It is deactivated: it answers 402 to nearly everything until a valid activation certificate is installed. Do not restart its farms: they may not start again.',
      remedy: `Install an activation certificate in its web interface (System > License)${byGateway}. ZlbApplianceDeactivated fires meanwhile; all else is unknown.`,
    },
  ];
}

/** One for each kind of obstacle: five collectors that the same role keeps out are one thing to put right. */
function obstacleIlls({ findings }: Examination): readonly Ill[] {
  const { licensed } = findings.facts;
  // Told by itself.
  const obstacles = findings.obstacles.filter(({ reason }) => reason !== 'unlicensed' || licensed !== false);
  const forbidden = obstacles.filter(({ reason }) => reason === 'forbidden');
  const others = obstacles.filter(({ reason }) => reason !== 'forbidden');
  return [...(forbidden.length > 0 ? [forbiddenIll(forbidden)] : []), ...others.map(otherIll)];
}

function forbiddenIll(forbidden: readonly Obstacle[]): Ill {
  const whole = [...new Set(forbidden.filter(({ partly }) => !partly).map(({ collector }) => collector))];
  const parts = forbidden.filter(({ partly }) => partly).map(({ collector, message }) => `${collector} (${message})`);
  const first = whole[0] ?? 'NAME';
  const what = [
    ...(whole.length > 0 ? [`The key may not read ${whole.join(', ')}.${lostBy(whole)}`] : []),
    ...(parts.length > 0 ? [`It may not read all of ${[...new Set(parts)].join(', ')}.`] : []),
  ];
  return {
    finding: what.join(' '),
    remedy: `Give its user a role that may read them (System > Users)${whole.length > 0 ? `, or do without: collectors: { ${first}: { enabled: false } }` : ''}.`,
  };
}

function otherIll({ collector, reason, message }: Obstacle): Ill {
  return { finding: `${collector}: ${message}.${lostBy([collector])}`, remedy: remedyFor(reason, collector) };
}

function lostBy(collectors: readonly string[]): string {
  const alerts = collectors.flatMap((name) => lostAlerts.get(name) ?? []);
  return alerts.length === 0 ? '' : ` Cannot fire: ${alerts.join(', ')}.`;
}

/** An answer that is not understood may be one of a release that nobody has tried. */
function remedyFor(reason: FailureReason | undefined, collector: string): string {
  if (reason === 'oversize') return 'Raise limits.body_bytes.';
  if (reason === undefined || reason === 'malformed' || reason === 'not_found')
    return `This release answers otherwise than is known: report it with the release and this line. Until then: collectors: { ${collector}: { enabled: false } }.`;
  return 'Polling tries again at each turn. If it stays, look at the log of the appliance at that call.';
}

function farmIlls({ findings }: Examination): readonly Ill[] {
  if (findings.facts.farms?.length !== 0) return [];
  return [
    {
      finding: 'No farm is seen, so that nothing is known of what it serves.',
      remedy:
        'If it has farms: put the user of the key into a group that holds them (System > Users > Groups), and check farms.include and farms.exclude.',
    },
  ];
}

function clockIlls({ findings }: Examination): readonly Ill[] {
  const offset = clockOffsetOf(findings.calls);
  if (offset === undefined || Math.abs(offset) <= worstClockOffsetSeconds) return [];
  return [
    {
      finding: `Its clock is ${formatDuration(Math.abs(offset) * 1_000)} ${offset > 0 ? 'ahead of' : 'behind'} the one of this machine; ZlbApplianceClockWrong fires.`,
      remedy: 'Set the time server of the one that is wrong: System > Services > NTP there, timedatectl here.',
    },
  ];
}

function costIlls({ findings, settings }: Examination): readonly Ill[] {
  const { maxBusyRatio } = settings.polling;
  const ratio = findings.perMinute.seconds / 60;
  if (ratio <= maxBusyRatio) return [];
  return [
    {
      finding: `Polling as configured would take ${percent(ratio)} of its time, and polling.max_busy_ratio allows ${percent(maxBusyRatio)}: intervals will be stretched.`,
      remedy:
        'That may be well: zlb_collector_interval_seconds says how far. Otherwise give farm_config and backends a longer schedule, or the appliance a higher polling.max_busy_ratio.',
    },
  ];
}

export function percent(ratio: number): string {
  return `${ratio < 0.0995 ? (ratio * 100).toFixed(1) : Math.round(ratio * 100)} %`;
}
