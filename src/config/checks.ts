import { formatDuration } from '../lib/time.ts';
import { findRepeats } from '../lib/same.ts';
import { remembered } from '../lib/text.ts';
import { type CollectorSettings, mergeCollectors } from './settings.ts';
import { type Path, problemLine, type Problems } from './problems.ts';
import { parseEndpoint } from '../lib/address.ts';
import { isAtMostOncePerMinute, maxGapMs } from './schedule.ts';
import type { ConfigFile } from './schema.ts';
import type { Source } from './yaml-file.ts';

interface Checked {
  readonly config: ConfigFile;
  readonly source: Source;
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  readonly problems: Problems;
}

/** Reports values that are valid alone and wrong in combination. */
export function checkCombinations(checked: Checked): void {
  for (const check of [
    requireUniqueNames,
    requireVerifiedPin,
    requireLongEnoughMaxStale,
    requireRareProbes,
    requireAddresses,
  ])
    check(checked);
}

function requireUniqueNames({ config, source, problems }: Checked): void {
  for (const { index, first } of findRepeats(config.appliances.map(({ name }) => name))) {
    const place = source.locate(['appliances', index, 'name']);
    const other = source.locate(['appliances', first]);
    const where = other.file === place.file ? other.key : `${other.key} in ${other.file}`;
    problems.report(place, `is the name of ${where} too; give each appliance its own`);
  }
}

/** Returns a line for each appliance whose host and port another one before it has. */
export function sharedAddresses({ appliances }: Pick<ConfigFile, 'appliances'>, source: Source): readonly string[] {
  return findRepeats(appliances.map(({ url }) => url.host)).map(({ index, first }) => {
    const place = source.locate(['appliances', index, 'url']);
    const { file, line, column } = source.locate(['appliances', first, 'url']);
    const other = `${appliances[first]?.name} (${[file, line, column].filter((part) => part !== undefined).join(':')})`;
    const message = `${appliances[index]?.name} has the address ${appliances[index]?.url.host} of ${other}: one appliance under two names is polled twice; keep one of them`;
    return problemLine({ ...place, message });
  });
}

function requireVerifiedPin({ config, source, problems }: Checked): void {
  for (const [index, appliance] of config.appliances.entries()) {
    const { fingerprint_sha256: pin, insecure_skip_verify: skip } = appliance.tls;
    if (pin === undefined || !skip) continue;
    const at: Path = ['appliances', index, 'tls'];
    const { key } = source.locate([...at, 'fingerprint_sha256']);
    problems.report(
      source.locate([...at, 'insecure_skip_verify']),
      `contradicts ${key}; remove this one, the fingerprint alone makes a self-signed certificate safe`,
    );
  }
}

/** The maximum random delay of a run, however rare it is. */
const maxDelayMs = 600_000;

/**
 * Reports a `max_stale` that is shorter than the longest time between polls, random delay included:
 * the series would come and go.
 */
function requireLongEnoughMaxStale({ config, source, collectorDefaults, problems }: Checked): void {
  // A thousand appliances have the same few schedules.
  const jitter = config.polling.jitter;
  const gapOf = remembered((schedule) => {
    const gapMs = maxGapMs(schedule);
    return gapMs + Math.min(gapMs * jitter, maxDelayMs);
  });
  for (const [index, appliance] of config.appliances.entries()) {
    const merged = mergeCollectors(collectorDefaults, config.collectors, appliance.collectors);
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
function requireRareProbes({ config, source, problems }: Checked): void {
  const written = [
    { block: config.collectors, at: ['collectors'] as Path },
    ...config.appliances.map((appliance, index) => ({
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
function requireAddresses({ config, source, problems }: Checked): void {
  for (const [index, appliance] of config.appliances.entries()) {
    for (const key of Object.keys(appliance.vip.connect_to)) {
      if (parseEndpoint(key)) continue;
      problems.report(
        source.locate(['appliances', index, 'vip', 'connect_to', key], 'key'),
        'is no address of a farm; write an IP address, with or without a port, such as 192.0.2.40:443',
      );
    }
  }
}
