import { isRecord } from '../lib/check.ts';
import { formatDuration } from '../lib/time.ts';
import { remembered } from '../lib/text.ts';
import { applianceExample } from './appliance-schema.ts';
import { type CollectorSettings, mergeCollectors } from './collectors.ts';
import { type Path, problemLine, type Problems } from './problems.ts';
import { findRepeats } from './repeats.ts';
import { longestGapMs } from './schedule.ts';
import type { ConfigFile } from './schema.ts';
import type { Partly } from './structure.ts';
import type { Source } from './yaml-file.ts';

interface Checked {
  readonly config: Partly<ConfigFile>;
  readonly source: Source;
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  readonly problems: Problems;
}

/** Reports the values that are right by themselves and wrong together. */
export function checkTogether(checked: Checked): void {
  for (const check of [someAreListed, namesDiffer, pinIsChecked, readingsOutliveSchedules]) check(checked);
}

function someAreListed({ config, source, problems }: Checked): void {
  const { appliances = [], appliance_files: files = [] } = config;
  // What is no mapping was said already.
  if (appliances.length > 0 || files.length > 0 || !isRecord(source.value)) return;
  problems.report(
    source.place(['appliances']),
    `lists no appliance; write one, such as ${JSON.stringify([applianceExample])}`,
  );
}

function namesDiffer({ config, source, problems }: Checked): void {
  for (const { index, first } of findRepeats((config.appliances ?? []).map((appliance) => appliance?.name))) {
    const place = source.place(['appliances', index, 'name']);
    const other = source.place(['appliances', first]);
    const where = other.file === place.file ? other.key : `${other.key} in ${other.file}`;
    problems.report(place, `is the name of ${where} too; give each appliance its own`);
  }
}

/** Returns a line for each appliance whose host and port another one before it has. */
export function sharedAddresses({ appliances }: Pick<ConfigFile, 'appliances'>, source: Source): readonly string[] {
  return findRepeats(appliances.map(({ url }) => url.host)).map(({ index, first }) => {
    const place = source.place(['appliances', index, 'url']);
    const { file, line, column } = source.place(['appliances', first, 'url']);
    const other = `${appliances[first]?.name} (${[file, line, column].filter((part) => part !== undefined).join(':')})`;
    const message = `${appliances[index]?.name} has the address ${appliances[index]?.url.host} of ${other}: one appliance under two names is polled twice; keep one of them`;
    return problemLine({ ...place, message });
  });
}

function pinIsChecked({ config, source, problems }: Checked): void {
  for (const [index, appliance] of config.appliances?.entries() ?? []) {
    const { fingerprint_sha256: pin, insecure_skip_verify: skip } = appliance?.tls ?? {};
    if (pin === undefined || !skip) continue;
    const at: Path = ['appliances', index, 'tls'];
    const { key } = source.place([...at, 'fingerprint_sha256']);
    problems.report(
      source.place([...at, 'insecure_skip_verify']),
      `contradicts ${key}; remove this one, the fingerprint alone makes a self-signed certificate safe`,
    );
  }
}

/** A reading that is withheld before the next poll would make its series come and go. */
function readingsOutliveSchedules({ config, source, collectorDefaults, problems }: Checked): void {
  // A thousand appliances have the same few schedules.
  const gapOf = remembered(longestGapMs);
  for (const [index, appliance] of config.appliances?.entries() ?? []) {
    const merged = mergeCollectors(collectorDefaults, config.collectors, appliance?.collectors);
    for (const [name, { enabled, schedule, maxStaleMs }] of Object.entries(merged)) {
      const gapMs = gapOf(schedule);
      if (!enabled || maxStaleMs > gapMs) continue;
      const own: Path = ['appliances', index, 'collectors', name];
      const forAll: Path = ['collectors', name];
      const [place, ...others] = [own, forAll]
        .flatMap((at) => [source.place(at.concat('max_stale')), source.place(at.concat('schedule'))])
        .filter(({ written }) => written !== undefined);
      // Beside a value that could not be read this one may be right.
      if (place === undefined || [place, ...others].some((written) => problems.knows(written))) continue;
      problems.report(
        place,
        `lets readings vanish between polls: "${schedule}" leaves up to ${formatDuration(gapMs)} between two, max_stale is ${formatDuration(maxStaleMs)}; ` +
          `set max_stale to more than that, such as ${formatDuration(3 * gapMs)} for three polls`,
      );
    }
  }
}
