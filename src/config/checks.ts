import { resolve } from 'node:path';
import { gapsOf, maxDelayMs } from '../lib/cron.ts';
import { formatDuration, parseDuration } from '../lib/time.ts';
import { pairProblem } from '../lib/pem.ts';
import { findRepeats } from '../lib/same.ts';
import { closestWord, memoize } from '../lib/text.ts';
import {
  type CollectorSettings,
  type OperationRoutes,
  matchOperations,
  mergeCollectorSettings,
  sendersOf,
} from './settings.ts';
import type { Path, Problems, ReportProblem } from './problems.ts';
import { blockListOf, isIn, isLoopback, parseEndpoint } from '../lib/address.ts';
import { eitherDay, isAtMostOncePerMinute } from './schedule.ts';
import { type ConfigSettings, longestMaxStale } from './schema.ts';
import type { YamlSource } from './yaml-file.ts';

interface CheckInput {
  readonly settings: ConfigSettings;
  readonly source: YamlSource;
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  readonly operations: OperationRoutes;
}

/** Reports values that are valid alone and wrong in combination, also contents of files. */
export function checkCombinations(checked: CheckInput, problems: Problems): void {
  const report = problems.reportIn(checked.source);
  for (const check of [
    requireUniqueNames,
    requireVerifiedPin,
    requireLongEnoughMaxStale,
    requireRoutineWithinBudget,
    requireRareProbes,
    requireAddresses,
    requireEncryption,
    requireRequests,
    requireUniqueTokens,
    requireKnownAppliances,
    requireTwins,
    requireKnownOperations,
    requireOwnFiles,
    requireMatchingKeys,
  ])
    check(checked, report);
}

function requireUniqueNames({ settings, source }: CheckInput, report: ReportProblem): void {
  for (const { index, first } of findRepeats(settings.appliances.map(({ name }) => name))) {
    const at: Path = ['appliances', index, 'name'];
    const { file, key } = source.locate(['appliances', first]);
    const where = file === source.locate(at).file ? key : `${key} in ${file}`;
    report(at, `duplicates ${where}; names must be unique`);
  }
}

function requireVerifiedPin({ settings, source }: CheckInput, report: ReportProblem): void {
  for (const [index, appliance] of settings.appliances.entries()) {
    const { fingerprintSha256: pin, insecureSkipVerify: skip } = appliance.tls;
    if (pin === undefined || !skip) continue;
    const at: Path = ['appliances', index, 'tls'];
    const { key } = source.locate([...at, 'fingerprint_sha256']);
    report(
      [...at, 'insecure_skip_verify'],
      `contradicts ${key}; remove this one, the fingerprint alone makes a self-signed certificate safe`,
    );
  }
}

/**
 * Reports a `max_stale` that is shorter than the longest time between polls, random delay included:
 * the series would come and go.
 */
function requireLongEnoughMaxStale({ settings, source, collectorDefaults }: CheckInput, report: ReportProblem): void {
  // A thousand appliances have the same few schedules.
  const jitter = settings.polling.jitterRatio;
  const gapOf = memoize((schedule) => {
    const gapMs = gapsOf(schedule).longestMs;
    return gapMs + Math.min(gapMs * jitter, maxDelayMs);
  });
  for (const [index, appliance] of settings.appliances.entries()) {
    const merged = mergeCollectorSettings(collectorDefaults, settings.collectors, appliance.collectors);
    for (const [name, { enabled, schedule, maxStaleMs }] of Object.entries(merged)) {
      const gapMs = gapOf(schedule);
      if (!enabled || maxStaleMs > gapMs) continue;
      const own: Path = ['appliances', index, 'collectors', name];
      const forAll: Path = ['collectors', name];
      const written = [own, forAll]
        .flatMap((at) => [at.concat('max_stale'), at.concat('schedule')])
        .find((at) => source.locate(at).written !== undefined);
      // Without one, all are defaults, and fit.
      if (written === undefined) continue;
      report(
        written,
        `readings would be stale between polls: "${schedule}" polls up to ${formatDuration(gapMs)} apart, max_stale is ${formatDuration(maxStaleMs)}; ` +
          scheduleRemedy(schedule, gapOf),
      );
    }
  }
}

/** Returns how to keep the readings of a schedule until its next poll. */
function scheduleRemedy(schedule: string, gapOf: (schedule: string) => number): string {
  const maxStale = sufficientMaxStale(schedule, gapOf);
  const ways = eitherDay(schedule)?.flatMap((each) => {
    const ofOne = sufficientMaxStale(each, gapOf);
    return ofOne === undefined ? [] : [`"${each}" with max_stale ${ofOne}`];
  });
  if (ways && ways.length > 0)
    return `both its day of month and its day of week must match, while a crontab needs only one of them; write only one: ${ways.join(', or ')}`;
  if (maxStale === undefined) return `poll more often, since max_stale can be ${longestMaxStale} at most`;
  return `set max_stale to more than that, such as ${maxStale} for three polls`;
}

/** Returns a `max_stale` of three polls, or the longest that is allowed; undefined if none is enough. */
function sufficientMaxStale(schedule: string, gapOf: (schedule: string) => number): string | undefined {
  const longestMs = parseDuration(longestMaxStale) ?? 0;
  if (gapOf(schedule) >= longestMs) return undefined;
  return formatDuration(Math.min(3 * gapsOf(schedule).longestMs, longestMs));
}

/** Reports a budget for routine readings that is larger than that of all. */
function requireRoutineWithinBudget({ settings, source }: CheckInput, report: ReportProblem): void {
  const { maxBusyRatio, routineBusyRatio } = settings.polling;
  const at: Path = ['polling', 'routine_busy_ratio'];
  if (routineBusyRatio <= maxBusyRatio || source.locate(at).written === undefined) return;
  report(at, 'must not exceed polling.max_busy_ratio, which bounds all readings');
}

/** Reports a schedule that would connect to a farm more than once a minute. */
function requireRareProbes({ settings }: CheckInput, report: ReportProblem): void {
  const written = [
    { block: settings.collectors, at: ['collectors'] as Path },
    ...settings.appliances.map((appliance, index) => ({
      block: appliance.collectors,
      at: ['appliances', index, 'collectors'] as Path,
    })),
  ];
  for (const { block, at } of written) {
    const schedule = block?.vip?.schedule;
    if (schedule === undefined || isAtMostOncePerMinute(schedule)) continue;
    report(
      at.concat(['vip', 'schedule']),
      'would connect to each farm more than once a minute; name a single second, such as "0 * * * * *"',
    );
  }
}

function requireAddresses({ settings }: CheckInput, report: ReportProblem): void {
  const message = 'is not an address of a farm; write an IP address, with or without a port, such as 192.0.2.40:443';
  for (const [index, appliance] of settings.appliances.entries())
    for (const key of Object.keys(appliance.vip.connectTo))
      if (!parseEndpoint(key)) report(['appliances', index, 'vip', 'connect_to', key], message, 'key');
}

function requireEncryption({ settings: { admin } }: CheckInput, report: ReportProblem): void {
  if (!admin || admin.tls || admin.insecurePlaintext || isLoopback(admin.listenAddress)) return;
  report(
    ['admin', 'listen_address'],
    'lets other machines connect, and without TLS tokens would cross the network in clear text; ' +
      'add admin.tls with cert_file and key_file, or set admin.insecure_plaintext to true where something else encrypts them',
  );
}

/** Reports settings of the request log without effect, and senders that two appliances share. */
function requireRequests({ settings: { requests, appliances } }: CheckInput, report: ReportProblem): void {
  if (requests && requests.listenTcp === undefined && requests.listenUdp === undefined)
    report(['requests'], 'receives nothing; add listen_tcp or listen_udp');
  const networks = requests ? appliances.map((each) => blockListOf(sendersOf(each))) : [];
  for (const [index, appliance] of appliances.entries()) {
    const { requests: own } = appliance;
    const at: Path = ['appliances', index, 'requests'];
    if (!requests && own.from.length + own.objectives.length > 0)
      report(at, 'has no effect; add a block requests with listen_tcp or listen_udp');
    for (const [position, sender] of sendersOf(appliance).entries()) {
      const address = sender.replace(/\/.*/, '');
      const other = appliances[networks.findIndex((each, owner) => owner !== index && isIn(each, address))];
      if (other)
        report(
          own.from.length > 0 ? [...at, 'from', position] : ['appliances', index, 'url'],
          `duplicates a sender of ${other.name}; set requests.from so that each sender belongs to one appliance`,
        );
    }
    for (const [position, { availabilityRatio, latency }] of own.objectives.entries())
      if (availabilityRatio === undefined && latency === undefined)
        report([...at, 'objectives', position], 'sets no target; add availability or latency');
    for (const { index: position } of findRepeats(own.objectives.map(({ farm }) => farm)))
      report([...at, 'objectives', position, 'farm'], 'already has an objective; merge the two');
  }
}

function requireUniqueTokens({ settings: { admin } }: CheckInput, report: ReportProblem): void {
  for (const [key, word, remedy] of [
    ['name', 'name', 'give each token its own, the audit tells callers apart by it'],
    ['sha256', 'digest', 'make a token of its own with `zlb-exporter token`'],
  ] as const) {
    for (const { index, first } of findRepeats((admin?.tokens ?? []).map((token) => token[key])))
      report(['admin', 'tokens', index, key], `duplicates the ${word} of admin.tokens[${first}]; ${remedy}`);
  }
}

/**
 * Reports names of unknown appliances. Patterns are allowed to match none: their appliances may
 * come later.
 */
function requireKnownAppliances({ settings: { admin, appliances } }: CheckInput, report: ReportProblem): void {
  const known = appliances.map(({ name }) => name);
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const [position, name] of token.appliances.entries()) {
      if (name.includes('*') || known.includes(name)) continue;
      report(
        ['admin', 'tokens', index, 'appliances', position],
        `names an appliance that is not configured; ${suggestion(name, known, 'write one of those in appliances, or a pattern such as lb-*')}`,
      );
    }
  }
}

function requireTwins({ settings: { twins, appliances } }: CheckInput, report: ReportProblem): void {
  const known = appliances.map(({ name }) => name);
  const taken = new Set<string>();
  for (const [index, pair] of twins.entries()) {
    if (pair.length !== 2) report(['twins', index], 'must be a pair of names, such as ["lb-paris-1","lb-paris-2"]');
    for (const [position, name] of pair.entries()) {
      const at: Path = ['twins', index, position];
      if (!known.includes(name))
        report(
          at,
          `names an appliance that is not configured; ${suggestion(name, known, 'write one of those in appliances')}`,
        );
      else if (taken.has(name)) report(at, 'is already in another pair; list each appliance once');
      taken.add(name);
    }
  }
}

/** Reports one file for the history and the journal: the first to open it would lock out the other. */
function requireOwnFiles({ settings: { history, admin }, source }: CheckInput, report: ReportProblem): void {
  if (history.file === undefined || !admin || resolve(history.file) !== resolve(admin.journalFile)) return;
  report(['history', 'file'], `is the same file as ${source.locate(['admin', 'journal_file']).key}; name another one`);
}

function requireMatchingKeys({ settings: { admin, requests } }: CheckInput, report: ReportProblem): void {
  for (const [block, tls] of [
    ['admin', admin?.tls],
    ['requests', requests?.tls],
  ] as const) {
    // A file that could not be read is reported already, and the setting is missing.
    const isRead = tls && 'cert' in tls && 'key' in tls;
    const mismatch = isRead ? pairProblem(tls.cert, tls.key, 'cert_file') : undefined;
    if (mismatch !== undefined) report([block, 'tls', 'key_file'], mismatch);
  }
}

function requireKnownOperations({ settings: { admin }, operations }: CheckInput, report: ReportProblem): void {
  const words = [...operations].flat();
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const list of ['allow', 'deny'] as const) {
      for (const [position, entry] of token[list]?.entries() ?? []) {
        if (matchOperations(entry, operations).length > 0) continue;
        report(
          ['admin', 'tokens', index, list, position],
          `is not an operation; ${suggestion(entry, words, operationForms)}`,
        );
      }
    }
  }
}

const operationForms =
  'write the key of one such as readFarm, a route such as PUT /farms/{farmname}/actions, or a pattern such as *Backend*';

function suggestion(word: string, candidates: readonly string[], otherwise: string): string {
  const meant = closestWord(word, candidates);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}
