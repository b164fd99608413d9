import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { type FailureReason, isOldTls, isWeakCertificate } from '../../appliance/errors.ts';
import { knownBasePaths } from '../../appliance/route.ts';
import { alertThresholds } from '../../state/alert-thresholds.ts';
import { l4Remedy } from '../../state/farm-problems.ts';
import { adminCommand } from '../../lib/text.ts';
import { dayOf, formatDuration } from '../../lib/time.ts';
import { objectivesOf } from '../../config/settings.ts';
import { packageFolder } from '../../app/build-info.ts';
import { ownFingerprintCommand } from '../fingerprint.ts';
import type { FarmProbe } from './farm-probes.ts';
import { type ApplianceCheck, clockOffsetOf, type Failure } from './probe.ts';

/** A problem of an appliance or of its configuration, and what to do about it. */
export interface Finding {
  readonly text: string;
  /** Lines; a command or setting to copy is a line of its own, see {@link copyLine}. */
  readonly remedy: readonly string[];
}

export function finding(text: string, ...remedy: readonly string[]): Finding {
  return { text, remedy };
}

function copyLine(text: string): string {
  return `    ${text}`;
}

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
    collectorFindings,
    farmFindings,
    probeFindings,
    objectiveFindings,
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
  if (endsAtMs >= nowMs + alertThresholds.expirySoonSeconds * 1_000) return;
  const ends = `The certificate of the API ${endsAtMs < nowMs ? 'expired' : 'expires'} on ${dayOf(endsAtMs)}.`;
  if (pinned === undefined)
    yield finding(ends, 'Renew it on the appliance: polling that verifies it ends on that day.');
  else
    yield finding(
      ends,
      'Polling continues, because it is pinned. After a renewal, pin the new one the same day; this prints it:',
      copyLine(`zlb-exporter fingerprint ${address.text}`),
    );
}

/** Yields a finding for each problem that the status page would show. */
function* problemFindings({ probe }: ApplianceCheck): Findings {
  for (const { level, title, meaning, alert } of probe.problems)
    if (level !== 'unknown')
      yield finding(`${title}. ${meaning}`, `The runbook of ${alert} in docs/operations.md says what to do.`);
}

/** Yields one finding for everything that is forbidden: one role may exclude five collectors. */
function* collectorFindings(checked: ApplianceCheck): Findings {
  const forbidden = forbiddenIn(checked);
  if (forbidden.length > 0)
    yield finding(
      `The key may not read ${forbidden.join(', ')}.${lostAlertsText(forbidden)}`,
      'Give the user of the key a role that may read them (System > Users), or disable the collectors:',
      copyLine(withoutCollectors(forbidden)),
    );
  for (const { collector, reason, message } of checked.probe.collectorFailures)
    if (reason !== 'forbidden')
      yield finding(`${collector}: ${message}.${lostAlertsText([collector])}`, ...collectorRemedy(reason, collector));
}

function lostAlertsText(collectors: readonly string[]): string {
  const alerts = lostAlerts(collectors);
  return alerts.length === 0 ? '' : ` Cannot fire: ${alerts.join(', ')}.`;
}

function withoutCollectors(names: readonly string[]): string {
  return `collectors: { ${names.map((name) => `${name}: { enabled: false }`).join(', ')} }`;
}

/**
 * Returns the remedy for a collector that failed. A malformed reply may come from an untested
 * release.
 */
function collectorRemedy(reason: FailureReason | undefined, collector: string): readonly string[] {
  if (reason === 'oversize') return ['Raise limits.body_bytes.'];
  if (reason === undefined || reason === 'malformed' || reason === 'not_found')
    return [
      'This release answers in an unknown way: report it with the release and the line above. Until then:',
      copyLine(withoutCollectors([collector])),
    ];
  return ['Polling tries again each time. If the failure persists, look at the log of the appliance for that call.'];
}

function* farmFindings({ probe }: ApplianceCheck): Findings {
  if (probe.facts.farms?.length === 0)
    yield finding(
      'The key sees no farm, so nothing is known about its services.',
      'If it has farms: add the user of the key to a group that has them (System > Users),',
      'and check farms.include and farms.exclude.',
    );
}

/**
 * Yields one finding for all addresses that must not be probed, one for those out of reach, and one
 * for L4 farms that are refused, whose daemon may be the cause.
 */
function* probeFindings({ appliance, settings, farmProbes = [] }: ApplianceCheck): Findings {
  const named = (probes: readonly FarmProbe[]) => probes.map(({ farm, address }) => `${farm} at ${address}`).join(', ');
  const forbidden = farmProbes.filter(({ failure }) => failure === 'not_allowed');
  const failing = farmProbes.filter(({ isReachable }) => isReachable === false);
  const isCut = ({ isL4, failure }: FarmProbe): boolean => isL4 && failure === 'refused';
  const cut = failing.filter(isCut);
  const silent = failing.filter((each) => !isCut(each));
  const example = copyLine("vip: { networks: ['192.0.2.0/24'] }");
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
  if (cut.length > 0)
    yield finding(
      `From here, ${named(cut)} ${cut.length === 1 ? 'refuses' : 'refuse'} connections, and the appliance does not report ${cut.length === 1 ? 'it' : 'them'} as down.`,
      l4Remedy,
      ...(settings.admin
        ? cut.map(({ farm }) => copyLine(adminCommand(appliance.name, 'restart-farm', `farm=${farm}`, '--reason=TEXT')))
        : []),
      'If nothing listens at that port on purpose, or it is one for UDP, name it in vip.udp_farms.',
    );
}

/** Yields a finding for an appliance that sends its log of requests and has no objective. */
function* objectiveFindings({ appliance, settings }: ApplianceCheck): Findings {
  if (objectivesOf(settings, appliance)?.length !== 0) return;
  yield finding(
    'None of its farms has an objective: errors and slow answers in its log of requests alert nobody.',
    'Say what the clients of a farm may expect:',
    copyLine('requests: { objectives: [{ farm: shop, availability: 99.9%, latency: 300ms for 99% }] }'),
  );
}

function* clockFindings({ probe }: ApplianceCheck): Findings {
  const offset = clockOffsetOf(probe.calls);
  if (offset === undefined || Math.abs(offset) <= alertThresholds.clockOffsetSeconds) return;
  yield finding(
    `Its clock is ${formatDuration(Math.abs(offset) * 1_000)} ${offset > 0 ? 'ahead of' : 'behind'} the clock of this machine; ZlbApplianceClockWrong fires.`,
    'Set the time server of the machine that is wrong; this shows the one of this machine:',
    copyLine('timedatectl'),
  );
}

function* costFindings({ probe, settings }: ApplianceCheck): Findings {
  const { maxBusyRatio } = settings.polling;
  const ratio = probe.perMinute.seconds / 60;
  // While a proxy hangs each state is read alone: that is not a cost to save.
  if (ratio <= maxBusyRatio || probe.facts.farms?.some(({ isSilent }) => isSilent)) return;
  yield finding(
    `Polling as configured would take ${percent(ratio)} of its time, and polling.max_busy_ratio allows ${percent(maxBusyRatio)}: intervals will be stretched.`,
    'That may be acceptable: see zlb_collector_interval_seconds. Otherwise run the most expensive collectors less often:',
    copyLine("collectors: { backends: { schedule: '0 */5 * * * *' }, farm_config: { schedule: '0 0 * * * *' } }"),
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

/** Returns why an appliance cannot be polled, and what to do about it. */
function failureFinding(failure: Failure, checked: ApplianceCheck): Finding {
  const { url, keyHeader } = checked.appliance;
  const { text } = checked.address;
  const basePaths = knownBasePaths.join(' and ');
  switch (failure.reason) {
    case 'connect':
      return connectFinding(failure, checked);
    case 'timeout':
      return finding(
        `${text} gave no answer in time.`,
        ...tryByHand(text),
        'If it does not connect, a firewall drops the packets. If it connects and nothing comes, the web service of the appliance hangs: restart that. If an answer comes late, raise polling.timeout.',
      );
    case 'tls':
      return tlsFinding(failure, checked);
    case 'unauthorized':
      return finding(
        'The key is refused: it is mistyped, was replaced or expired, or its user is disabled.',
        'Make a key for an enabled API user (System > Users) and put it, alone, into api_key_file.',
        `It is sent as ${keyHeadersText(keyHeader)}; a proxy that drops such headers needs the other form:`,
        copyLine('key_header: ZAPI-KEY'),
      );
    case 'nothing_enabled':
      return finding(
        'No collector that asks it is enabled: neither its key nor anything else was tried, and nothing will be read.',
        'Take enabled: false out of collectors, at least for:',
        copyLine(
          'collectors: { farms: { enabled: true }, backends: { enabled: true }, certificates: { enabled: true } }',
        ),
      );
    case 'unproven':
      return finding(
        'Something answers, but not as the management API that accepts this key.',
        ...(url.pathname === '/'
          ? [
              `Check that ${text} is the web interface of the appliance, and that its release has the API v4.0.`,
              `These paths were tried: ${basePaths}.`,
            ]
          : [`Remove the path ${url.pathname} from url.`, `Without a path, ${basePaths} are tried.`]),
      );
    case 'forbidden':
      return finding(
        `The key may not read ${forbiddenIn(checked).join(', ')}. Without its farms, nothing is known of its services, and no alert on them can fire.`,
        'Give the user of the key a role that may read them, and a group that has its farms (System > Users).',
      );
    case 'unlicensed':
      return licenceFinding(checked);
    case 'farms_unread':
      return finding(
        `Its farms cannot be read, so nothing is known of its services: ${failure.message}.`,
        'Look at the log of the appliance for that call. If its release answers in an unknown way, report it',
        'with the release and the line above.',
      );
    case 'cancelled':
      return finding('The check was stopped before the end.', 'Run it again.');
  }
}

export function forbiddenIn({ probe }: Pick<ApplianceCheck, 'probe'>): readonly string[] {
  return probe.collectorFailures.filter(({ reason }) => reason === 'forbidden').map(({ collector }) => collector);
}

/** Returns what a deactivated appliance needs, and what not to do before. */
function licenceFinding({ appliance, settings }: ApplianceCheck): Finding {
  const throughGateway = copyLine(adminCommand(appliance.name, 'install-activation', 'file=PATH', '--reason=TEXT'));
  return finding(
    'It is deactivated: until a valid activation certificate is installed it answers 402 to nearly everything.',
    `Install one in its web interface${settings.admin ? ', or through the gateway:' : '.'}`,
    ...(settings.admin ? [throughGateway] : []),
    'Do not restart its farms before that: they may not start again. ZlbApplianceDeactivated fires until then.',
  );
}

export function keyHeadersText(keyHeader: string): string {
  return keyHeader === 'auto' ? 'ZAPI_KEY and API_KEY' : keyHeader;
}

/** Returns the setting that pins a fingerprint, and how to verify it first. */
function pinLines(fingerprintSha256: string, port: number): readonly string[] {
  return [
    copyLine(`tls: { fingerprint_sha256: '${fingerprintSha256}' }`),
    'Do this only if a shell on the appliance itself prints the same fingerprint:',
    copyLine(ownFingerprintCommand(port)),
  ];
}

function tryByHand(address: string): readonly string[] {
  return ['Try it by hand from this machine:', copyLine(`curl -kv https://${address}/`)];
}

/** The codes of connections that end before the response does. */
const closedCodes: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];

function connectFinding({ code = '' }: Failure, { address: { host, text } }: ApplianceCheck): Finding {
  if (code === 'ERR_NAME_UNRESOLVED')
    return finding(
      `This machine finds no address for the name ${host}.`,
      'Check the host in url and the name server of this machine, or write the address itself:',
      'a pinned certificate does not depend on the name.',
    );
  if (closedCodes.includes(code))
    return finding(
      `${text} accepts the connection and closes it before the end of an answer.`,
      ...tryByHand(text),
      'If that fails too, the port may not be the port of the web interface (usually 444), or something',
      'in between ends connections: a firewall, a proxy, a list of addresses that may manage the appliance.',
    );
  return finding(
    `Nothing accepts connections on ${text}.`,
    ...tryByHand(text),
    'If that fails too, the host or port in url is wrong (the web interface is usually on 444),',
    'a firewall is in between, or the web server of the appliance does not run.',
  );
}

function tlsFinding({ message, code }: Failure, { appliance, address, shown, nowMs }: ApplianceCheck): Finding {
  if (isOldTls(message))
    return finding(
      `${address.text} does not support TLS 1.2 or newer.`,
      'Update the appliance, or allow newer versions in its web server. What it speaks:',
      copyLine(`openssl s_client -connect ${address.text} -tls1_1 -cipher DEFAULT@SECLEVEL=0 </dev/null`),
    );
  if (!shown)
    return finding(
      `${address.text} does not speak TLS as expected.`,
      'Check that the port in url is that of the web interface (usually 444).',
    );
  const { fingerprintSha256: found, issuer, subject, startsAtMs, endsAtMs } = shown;
  const pin = pinLines(found, address.port);
  if (appliance.tls.fingerprintSha256 !== undefined)
    return finding(
      `The certificate is not the pinned one: its fingerprint is ${found}.`,
      'If it was renewed, pin the new one:',
      ...pin,
      'If the fingerprints differ, somebody is in between. The key was not sent.',
    );
  if (endsAtMs < nowMs)
    return finding(
      `The certificate of the API expired on ${dayOf(endsAtMs)}.`,
      'Renew it on the appliance. To continue until then, pin it:',
      ...pin,
    );
  if (startsAtMs > nowMs)
    return finding(
      `The certificate of the API is not valid before ${new Date(startsAtMs).toISOString()}.`,
      'Look at the clocks of the appliance and of this machine. To poll it until then, pin it:',
      ...pin,
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return finding(
      `The certificate is for another name (${subject}).`,
      'If that is this appliance, expect a name that is in the certificate:',
      copyLine('tls: { server_name: NAME }'),
      'Or pin it:',
      ...pin,
    );
  if (isWeakCertificate(message))
    return finding(
      'A certificate of it has a key or a digest that is too weak to be verified.',
      'Give the appliance one with RSA 2048, ECDSA and SHA-256 or better. To poll it until then, pin this one:',
      ...pin,
    );
  return finding(
    `The certificate was issued by ${issuer === subject ? 'itself' : issuer}, which this machine does not trust.`,
    'Name the file of its authority in tls: { ca_file: PATH }, or pin it:',
    ...pin,
  );
}
