import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import type { FailureReason } from '../../appliance/errors.ts';
import { alertThresholds } from '../../judgement/alert-thresholds.ts';
import { dayOf, formatDuration } from '../../lib/time.ts';
import { packageFolder } from '../../app/build-info.ts';
import type { FarmProbe } from './farm-probes.ts';
import { type ApplianceCheck, clockOffsetOf } from './probe.ts';
import { exact, failureFinding, finding, type Finding, forbiddenIn, pinLines } from './failure-finding.ts';

const soonMs = 30 * 86_400_000;

/** Returns all problems of an appliance, the worst first. */
export function findingsOf(checked: ApplianceCheck): readonly Finding[] {
  const { failure } = checked.probe;
  if (failure) {
    const trust = failure.reason === 'tls' ? [] : trustFindings(checked);
    return [failureFinding(failure, checked), ...trust, ...clockFindings(checked)];
  }
  const all = [
    trustFindings,
    problemFindings,
    obstacleFindings,
    farmFindings,
    probeFindings,
    clockFindings,
    costFindings,
  ];
  return all.flatMap((find) => [...find(checked)]);
}

type Findings = Generator<Finding, void>;

function* trustFindings({ appliance, address, shown, nowMs }: ApplianceCheck): Findings {
  if (!shown) return;
  const { fingerprintSha256: found, endsAtMs } = shown;
  const { insecureSkipVerify, fingerprintSha256: pinned } = appliance.tls;
  if (insecureSkipVerify && pinned === undefined)
    yield finding(
      'insecure_skip_verify is on: somebody in between could read the key without being noticed.',
      'Replace it by:',
      ...pinLines(found, address.port),
    );
  if (endsAtMs >= nowMs + soonMs) return;
  const ends = `The certificate of the API ${endsAtMs < nowMs ? 'expired' : 'expires'} on ${dayOf(endsAtMs)}.`;
  if (pinned === undefined)
    yield finding(ends, 'Renew it on the appliance: polling that verifies it ends on that day.');
  else
    yield finding(
      ends,
      'Polling continues, because it is pinned. After a renewal, pin the new one the same day; this prints it:',
      exact(`zlb-exporter fingerprint ${address.text}`),
    );
}

/** Makes a finding for each thing that the status page would call wrong. */
function* problemFindings({ probe }: ApplianceCheck): Findings {
  for (const { level, title, meaning, alert } of probe.problems)
    if (level !== 'unknown')
      yield finding(`${title}. ${meaning}`, `The runbook of ${alert} in docs/operations.md says what to do.`);
}

/** Makes one finding for everything that is forbidden: one role may exclude five collectors. */
function* obstacleFindings(checked: ApplianceCheck): Findings {
  const forbidden = forbiddenIn(checked);
  if (forbidden.length > 0)
    yield finding(
      `The key may not read ${forbidden.join(', ')}.${lostBy(forbidden)}`,
      'Give the user of the key a role that may read them (System > Users), or disable the collectors:',
      exact(withoutCollectors(forbidden)),
    );
  for (const { collector, reason, message } of checked.probe.obstacles)
    if (reason !== 'forbidden')
      yield finding(`${collector}: ${message}.${lostBy([collector])}`, ...remedyFor(reason, collector));
}

function lostBy(collectors: readonly string[]): string {
  const alerts = lostAlerts(collectors);
  return alerts.length === 0 ? '' : ` Cannot fire: ${alerts.join(', ')}.`;
}

function withoutCollectors(names: readonly string[]): string {
  return `collectors: { ${names.map((name) => `${name}: { enabled: false }`).join(', ')} }`;
}

/**
 * Returns the remedy for a collector that failed. A malformed answer may come from an untested
 * release.
 */
function remedyFor(reason: FailureReason | undefined, collector: string): readonly string[] {
  if (reason === 'oversize') return ['Raise limits.body_bytes.'];
  if (reason === undefined || reason === 'malformed' || reason === 'not_found')
    return [
      'This release answers in an unknown way: report it with the release and the line above. Until then:',
      exact(withoutCollectors([collector])),
    ];
  return ['Polling tries again each time. If the failure stays, look at the log of the appliance for that call.'];
}

function* farmFindings({ probe }: ApplianceCheck): Findings {
  if (probe.facts.farms?.length === 0)
    yield finding(
      'The key sees no farm, so nothing is known about its services.',
      'If it has farms: add the user of the key to a group that has them (System > Users),',
      'and check farms.include and farms.exclude.',
    );
}

/** Makes one finding for all addresses that must not be probed, and one for those out of reach. */
function* probeFindings({ farmProbes = [] }: ApplianceCheck): Findings {
  const named = (probes: readonly FarmProbe[]) => probes.map(({ farm, address }) => `${farm} at ${address}`).join(', ');
  const forbidden = farmProbes.filter(({ failure }) => failure === 'not_allowed');
  const silent = farmProbes.filter(({ isReachable }) => isReachable === false);
  const example = exact("vip: { networks: ['192.0.2.0/24'] }");
  if (forbidden.length > 0)
    yield finding(
      `The collector vip may not connect to ${named(forbidden)}: reserved, of this machine, or in none of vip.networks.`,
      'If its farms really are there, name their networks, all of them:',
      example,
    );
  if (silent.length > 0)
    yield finding(
      `From here, no connection can be made to ${named(silent)}. ZlbFarmUnreachable cannot fire for them.`,
      'Open the way for this machine, lead the probe elsewhere by vip.connect_to, or name the networks that it reaches:',
      example,
    );
}

function* clockFindings({ probe }: ApplianceCheck): Findings {
  const offset = clockOffsetOf(probe.calls);
  if (offset === undefined || Math.abs(offset) <= alertThresholds.clockOffsetSeconds) return;
  yield finding(
    `Its clock is ${formatDuration(Math.abs(offset) * 1_000)} ${offset > 0 ? 'ahead of' : 'behind'} the clock of this machine; ZlbApplianceClockWrong fires.`,
    'Set the time server of the machine that is wrong; this shows the one of this machine:',
    exact('timedatectl'),
  );
}

function* costFindings({ probe, settings }: ApplianceCheck): Findings {
  const { maxBusyRatio } = settings.polling;
  const ratio = probe.perMinute.seconds / 60;
  if (ratio <= maxBusyRatio) return;
  yield finding(
    `Polling as configured would take ${percent(ratio)} of its time, and polling.max_busy_ratio allows ${percent(maxBusyRatio)}: intervals will be stretched.`,
    'That may be acceptable: see zlb_collector_interval_seconds. Otherwise run the most expensive collectors less often:',
    exact("collectors: { backends: { schedule: '0 */5 * * * *' }, farm_config: { schedule: '0 0 * * * *' } }"),
  );
}

export function percent(ratio: number): string {
  return `${ratio < 0.0995 ? (ratio * 100).toFixed(1) : Math.round(ratio * 100)} %`;
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly annotations?: { readonly reading?: string } }[];
  }[];
}

/**
 * Returns the alerts that cannot fire while these collectors have no data: those whose rule names
 * one of them in the annotation `reading`. Empty if the rules are not installed with the program.
 */
export function lostAlerts(collectors: readonly string[]): readonly string[] {
  const folder = resolve(packageFolder(import.meta.dirname), 'alerts');
  if (!existsSync(folder)) return [];
  const lost = readdirSync(folder)
    .filter((file) => file.endsWith('.rules.yml'))
    .flatMap((file) => (parse(readFileSync(resolve(folder, file), 'utf8')) as RuleFile).groups)
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, annotations }) => (alert && collectors.includes(annotations?.reading ?? '') ? [alert] : []));
  return [...new Set(lost)];
}
