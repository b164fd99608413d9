import { maxDelayMs } from '../lib/cron.ts';
import { formatDuration } from '../lib/time.ts';
import { findRepeats } from '../lib/same.ts';
import { closestWord, remembered } from '../lib/text.ts';
import { type CollectorSettings, mergeCollectors, sendersOf } from './settings.ts';
import { type Path, problemLine, type Problems } from './problems.ts';
import { blockListOf, isIn, isLoopback, parseEndpoint } from '../lib/address.ts';
import { matchOperations, type OperationRoutes } from './admin-settings.ts';
import { isAtMostOncePerMinute, maxGapMs } from './schedule.ts';
import type { ConfigSettings } from './schema.ts';
import type { Source } from './yaml-file.ts';

interface Checked {
  readonly settings: ConfigSettings;
  readonly source: Source;
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  readonly operations: OperationRoutes;
  readonly problems: Problems;
}

/** Reports values that are valid alone and wrong in combination; needs no content of files. */
export function checkCombinations(checked: Checked): void {
  for (const check of [
    requireUniqueNames,
    requireVerifiedPin,
    requireLongEnoughMaxStale,
    requireRareProbes,
    requireAddresses,
    requireEncryption,
    requireRequests,
    requireUniqueTokens,
    requireKnownAppliances,
    requireKnownOperations,
  ])
    check(checked);
}

function requireUniqueNames({ settings, source, problems }: Checked): void {
  for (const { index, first } of findRepeats(settings.appliances.map(({ name }) => name))) {
    const place = source.locate(['appliances', index, 'name']);
    const other = source.locate(['appliances', first]);
    const where = other.file === place.file ? other.key : `${other.key} in ${other.file}`;
    problems.report(place, `is the name of ${where} too; give each appliance its own`);
  }
}

/** Returns a line for each appliance whose host and port another one before it has. */
export function sharedAddresses({ appliances }: Pick<ConfigSettings, 'appliances'>, source: Source): readonly string[] {
  return findRepeats(appliances.map(({ url }) => url.host)).map(({ index, first }) => {
    const place = source.locate(['appliances', index, 'url']);
    const { file, line, column } = source.locate(['appliances', first, 'url']);
    const other = `${appliances[first]?.name} (${[file, line, column].filter((part) => part !== undefined).join(':')})`;
    const message = `${appliances[index]?.name} has the address ${appliances[index]?.url.host} of ${other}: one appliance under two names is polled twice; keep one of them`;
    return problemLine({ ...place, message });
  });
}

function requireVerifiedPin({ settings, source, problems }: Checked): void {
  for (const [index, appliance] of settings.appliances.entries()) {
    const { fingerprintSha256: pin, insecureSkipVerify: skip } = appliance.tls;
    if (pin === undefined || !skip) continue;
    const at: Path = ['appliances', index, 'tls'];
    const { key } = source.locate([...at, 'fingerprint_sha256']);
    problems.report(
      source.locate([...at, 'insecure_skip_verify']),
      `contradicts ${key}; remove this one, the fingerprint alone makes a self-signed certificate safe`,
    );
  }
}

/**
 * Reports a `max_stale` that is shorter than the longest time between polls, random delay included:
 * the series would come and go.
 */
function requireLongEnoughMaxStale({ settings, source, collectorDefaults, problems }: Checked): void {
  // A thousand appliances have the same few schedules.
  const jitter = settings.polling.jitterRatio;
  const gapOf = remembered((schedule) => {
    const gapMs = maxGapMs(schedule);
    return gapMs + Math.min(gapMs * jitter, maxDelayMs);
  });
  for (const [index, appliance] of settings.appliances.entries()) {
    const merged = mergeCollectors(collectorDefaults, settings.collectors, appliance.collectors);
    for (const [name, { enabled, schedule, maxStaleMs }] of Object.entries(merged)) {
      const gapMs = gapOf(schedule);
      if (!enabled || maxStaleMs > gapMs) continue;
      const own: Path = ['appliances', index, 'collectors', name];
      const forAll: Path = ['collectors', name];
      const place = [own, forAll]
        .flatMap((at) => [source.locate(at.concat('max_stale')), source.locate(at.concat('schedule'))])
        .find(({ written }) => written !== undefined);
      // Without one, all are defaults, and fit.
      if (place === undefined) continue;
      problems.report(
        place,
        `lets readings vanish between polls: "${schedule}" leaves up to ${formatDuration(gapMs)} between two, max_stale is ${formatDuration(maxStaleMs)}; ` +
          `set max_stale to more than that, such as ${formatDuration(3 * maxGapMs(schedule))} for three polls`,
      );
    }
  }
}

/** Reports a schedule that would connect to a farm more than once a minute. */
function requireRareProbes({ settings, source, problems }: Checked): void {
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
    problems.report(
      source.locate(at.concat(['vip', 'schedule'])),
      'connects to each farm more than once a minute; give it one second, such as "0 * * * * *"',
    );
  }
}

/** Reports a key of `connect_to` that no address can match. */
function requireAddresses({ settings, source, problems }: Checked): void {
  for (const [index, appliance] of settings.appliances.entries()) {
    for (const key of Object.keys(appliance.vip.connectTo)) {
      if (parseEndpoint(key)) continue;
      problems.report(
        source.locate(['appliances', index, 'vip', 'connect_to', key], 'key'),
        'is no address of a farm; write an IP address, with or without a port, such as 192.0.2.40:443',
      );
    }
  }
}

function requireEncryption({ settings: { admin }, source, problems }: Checked): void {
  if (!admin || admin.tls || admin.insecurePlaintext || isLoopback(admin.listenAddress)) return;
  problems.report(
    source.locate(['admin', 'listen_address']),
    'lets other machines connect, and without TLS tokens would cross the network in clear text; ' +
      'add admin.tls with cert_file and key_file, or set admin.insecure_plaintext to true where something else encrypts them',
  );
}

/** Reports a log of requests without effect, and senders of two appliances. */
function requireRequests({ settings: { requests, appliances }, source, problems }: Checked): void {
  const report = (at: Path, message: string) => problems.report(source.locate(at), message);
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
          `is a sender of ${other.name} too; give each appliance its own requests.from`,
        );
    }
    for (const [position, { availabilityRatio, latency }] of own.objectives.entries())
      if (availabilityRatio === undefined && latency === undefined)
        report([...at, 'objectives', position], 'expects nothing; add availability or latency');
    for (const { index: position } of findRepeats(own.objectives.map(({ farm }) => farm)))
      report([...at, 'objectives', position, 'farm'], 'has an objective already; join the two');
  }
}

function requireUniqueTokens({ settings: { admin }, source, problems }: Checked): void {
  for (const [key, word, remedy] of [
    ['name', 'name', 'give each token its own, the audit tells callers apart by it'],
    ['sha256', 'digest', 'make a token of its own with `zlb-exporter token`'],
  ] as const) {
    for (const { index, first } of findRepeats((admin?.tokens ?? []).map((token) => token[key])))
      problems.report(
        source.locate(['admin', 'tokens', index, key]),
        `is the ${word} of admin.tokens[${first}] too; ${remedy}`,
      );
  }
}

/**
 * Reports names of unknown appliances. Patterns are allowed to match none: their appliances may
 * come later.
 */
function requireKnownAppliances({ settings: { admin, appliances }, source, problems }: Checked): void {
  const known = appliances.map(({ name }) => name);
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const [position, name] of token.appliances.entries()) {
      if (name.includes('*') || known.includes(name)) continue;
      problems.report(
        source.locate(['admin', 'tokens', index, 'appliances', position]),
        `is the name of no appliance; ${suggest(name, known) ?? 'write one of those in appliances, or a pattern such as lb-*'}`,
      );
    }
  }
}

function requireKnownOperations({ settings: { admin }, source, operations, problems }: Checked): void {
  const words = [...operations].flat();
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const list of ['allow', 'deny'] as const) {
      for (const [position, entry] of token[list]?.entries() ?? []) {
        if (matchOperations(entry, operations).length > 0) continue;
        const at: Path = ['admin', 'tokens', index, list, position];
        problems.report(
          source.locate(at),
          `is no operation; ${suggest(entry, words) ?? 'write the key of one such as readFarm, a route such as PUT /farms/{farmname}/actions, or a pattern such as *Backend*'}`,
        );
      }
    }
  }
}

function suggest(word: string, candidates: readonly string[]): string | undefined {
  const meant = closestWord(word, candidates);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}
