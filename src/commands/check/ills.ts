import type { FailureReason } from '../../appliance/errors.ts';
import { dayOf } from '../../lib/day.ts';
import { formatDuration } from '../../lib/duration.ts';
import { addressOf, type Examination } from './examination.ts';
import { failureIll, pinLines } from './failure-ill.ts';
import { exact, type Ill } from './ill.ts';
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
      remedy: ['Write in its place:', ...pinLines(found, addressOf(appliance).port)],
    });
  if (endsAtMs < nowMs + soonMs)
    ills.push({
      finding: `The certificate of the API ${endsAtMs < nowMs ? 'expired' : 'expires'} on ${dayOf(endsAtMs)}.`,
      remedy:
        pinned === undefined
          ? ['Renew it on the appliance: where it is verified, all polling ends on that day.']
          : [
              'Polling goes on, since it is pinned. When it is renewed, pin the new one the same day; this prints it:',
              exact(`zlb-exporter fingerprint ${addressOf(appliance).text}`),
            ],
    });
  return ills;
}

function licenceIlls({ appliance, settings, findings }: Examination): readonly Ill[] {
  if (findings.facts.licensed !== false) return [];
  const install = exact(`zlb-exporter admin ${appliance.name} install-activation file=PATH --reason=TEXT`);
  return [
    {
      finding:
        'It is deactivated: until a valid activation certificate is installed it answers 402 to nearly everything.',
      remedy: [
        `Install one in its web interface${settings.admin ? ', or through the gateway:' : '.'}`,
        ...(settings.admin ? [install] : []),
        'Do not restart its farms before: they may not start again. ZlbApplianceDeactivated fires meanwhile.',
      ],
    },
  ];
}

/** One for all that is forbidden: five collectors that one role keeps out are one thing to put right. */
function obstacleIlls({ findings }: Examination): readonly Ill[] {
  const { licensed } = findings.facts;
  // Told by itself.
  const obstacles = findings.obstacles.filter(({ reason }) => reason !== 'unlicensed' || licensed !== false);
  const forbidden = obstacles.filter(({ reason }) => reason === 'forbidden').map(({ collector }) => collector);
  const others = obstacles.filter(({ reason }) => reason !== 'forbidden');
  return [...(forbidden.length > 0 ? [forbiddenIll(forbidden)] : []), ...others.map(otherIll)];
}

function forbiddenIll(collectors: readonly string[]): Ill {
  return {
    finding: `The key may not read ${collectors.join(', ')}.${lostBy(collectors)}`,
    remedy: [
      'Give the user of the key a role that may read that (System > Users), or do without:',
      exact(withoutCollectors(collectors)),
    ],
  };
}

function otherIll({ collector, reason, message }: Obstacle): Ill {
  return { finding: `${collector}: ${message}.${lostBy([collector])}`, remedy: remedyFor(reason, collector) };
}

function lostBy(collectors: readonly string[]): string {
  const alerts = collectors.flatMap((name) => lostAlerts.get(name) ?? []);
  return alerts.length === 0 ? '' : ` Cannot fire: ${alerts.join(', ')}.`;
}

function withoutCollectors(names: readonly string[]): string {
  return `collectors: { ${names.map((name) => `${name}: { enabled: false }`).join(', ')} }`;
}

/** An answer that is not understood may be one of a release that nobody has tried. */
function remedyFor(reason: FailureReason | undefined, collector: string): readonly string[] {
  if (reason === 'oversize') return ['Raise limits.body_bytes.'];
  if (reason === undefined || reason === 'malformed' || reason === 'not_found')
    return [
      'This release answers otherwise than is known: report it with the release and the line above. Until then:',
      exact(withoutCollectors([collector])),
    ];
  return ['Polling tries again at each turn. If it stays, look at the log of the appliance at that call.'];
}

function farmIlls({ findings }: Examination): readonly Ill[] {
  if (findings.facts.farms?.length !== 0) return [];
  return [
    {
      finding: 'No farm is seen, so that nothing is known of what it serves.',
      remedy: [
        'If it has farms: put the user of the key into a group that holds them (System > Users),',
        'and check farms.include and farms.exclude.',
      ],
    },
  ];
}

function clockIlls({ findings }: Examination): readonly Ill[] {
  const offset = clockOffsetOf(findings.calls);
  if (offset === undefined || Math.abs(offset) <= worstClockOffsetSeconds) return [];
  return [
    {
      finding: `Its clock is ${formatDuration(Math.abs(offset) * 1_000)} ${offset > 0 ? 'ahead of' : 'behind'} the one of this machine; ZlbApplianceClockWrong fires.`,
      remedy: ['Set the time server of the one that is wrong; of this machine it is said by:', exact('timedatectl')],
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
      remedy: [
        'That may be well: zlb_collector_interval_seconds says how far. Otherwise let the dearest run less often:',
        exact("collectors: { backends: { schedule: '0 */5 * * * *' }, farm_config: { schedule: '0 0 * * * *' } }"),
      ],
    },
  ];
}

export function percent(ratio: number): string {
  return `${ratio < 0.0995 ? (ratio * 100).toFixed(1) : Math.round(ratio * 100)} %`;
}
