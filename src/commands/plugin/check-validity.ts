import type { Validity } from '../../appliance/connection.ts';
import { plural, globMatcher, joinFirst } from '../../lib/text.ts';
import { ago, dayMs, formatDuration } from '../../lib/time.ts';
import {
  findingOf,
  type MonitoredCertificate,
  overdueReadingText,
  problemsAbout,
  assertFresh,
  type SeenAppliance,
} from './exporter-reply.ts';
import {
  type CheckResult,
  type CheckedObject,
  hasThresholds,
  type Thresholds,
  UnknownStateError,
  thresholdTexts,
  stateOfValue,
} from './check-result.ts';

/**
 * How long certificates are valid: by `-w` and `-c` in days, or else by the windows of the alerts.
 * By an old reading, it reports what is critical, and the age of the reading: an end stays.
 */
export function judgeCertificates(seen: SeenAppliance, glob: string, thresholds: Thresholds): CheckResult {
  const overdue = overdueReadingText(seen, 'certificates');
  const { appliance, nowMs } = seen;
  if (!appliance.certificates)
    throw new UnknownStateError(overdue ?? `the certificates of ${appliance.name} are not known`);
  const fits = globMatcher(glob);
  const found = appliance.certificates.filter(({ file, kind }) => kind !== 'csr' && fits(file));
  if (found.length === 0 && glob !== '*') throw new UnknownStateError(`${appliance.name} has no certificate ${glob}`);
  const ends = found.flatMap(({ notAfterSeconds }) => notAfterSeconds ?? []);
  const firstEnd = ends.length === 0 ? undefined : Math.min(...ends);
  const count = `${plural(found.length, 'certificate')} of ${appliance.name}`;
  const byFile = Map.groupBy(problemsAbout(seen, 'certificate'), ({ labels }) => labels?.['file']);
  const findings = found.flatMap((certificate) => {
    const problems = byFile.get(certificate.file) ?? [];
    return findingsByDays(certificate, nowMs, thresholds) ?? problems.map(findingOf);
  });
  if (overdue !== undefined && !findings.some(({ state }) => state === 'CRITICAL'))
    throw new UnknownStateError(overdue);
  return {
    // The age comes first: a long line loses its end.
    findings: overdue === undefined ? findings : [{ state: 'CRITICAL', text: overdue }, ...findings],
    okText: firstEnd === undefined ? count : `${count}; the first ${endText({ notAfterSeconds: firstEnd }, nowMs)}`,
    performanceData: daysLeft(firstEnd, nowMs, thresholds),
  };
}

/**
 * Judges a certificate by `-w` and `-c` instead of the windows of the alerts; undefined without
 * them, and where they say nothing: before its beginning, after its end, or where the end is not
 * known.
 */
function findingsByDays(
  certificate: MonitoredCertificate,
  nowMs: number,
  thresholds: Thresholds,
): readonly CheckedObject[] | undefined {
  const { file, usedBy, usersReadMs, lastKnownUse } = certificate;
  const validity = validityOf(certificate);
  if (!hasThresholds(thresholds) || !validity || validity.notAfterSeconds * 1_000 <= nowMs) return undefined;
  if ((validity.notBeforeSeconds ?? 0) * 1_000 > nowMs) return undefined;
  const state = stateOfEnd(validity, nowMs, thresholds);
  const text = `certificate ${file} ${endText(validity, nowMs)}`;
  if (state === 'OK') return [];
  if (usedBy == null && lastKnownUse != null)
    return [
      { state, text: `${text}, was used by ${joinFirst(lastKnownUse.farms)} ${ago(lastKnownUse.readMs, nowMs)}` },
    ];
  if (usedBy == null) return [{ state: 'UNKNOWN', text: `${text}; which farms use it is not known` }];
  if (usedBy.length > 0) return [{ state, text }];
  const read = usersReadMs == null ? '' : ` (read ${ago(usersReadMs, nowMs)})`;
  return state === 'CRITICAL' ? [{ state: 'WARNING', text: `${text}, no farm uses it${read}` }] : [];
}

/** Whether an appliance is activated, and for how long. `-w` and `-c` are not for its support. */
export function judgeActivation(seen: SeenAppliance, thresholds: Thresholds): CheckResult {
  const { appliance, nowMs } = seen;
  const { name, deactivated, activation } = appliance;
  const problems = problemsAbout(seen, 'activation').map(findingOf);
  if (deactivated || activation?.status === 'deactivated')
    return { findings: problems, okText: '', performanceData: [] };
  assertFresh(seen, 'activation');
  if (activation?.status === 'not_applicable')
    return { findings: [], okText: `${name} needs no activation`, performanceData: [] };
  if (activation?.status !== 'activated') throw new UnknownStateError(`it is not known whether ${name} is activated`);
  const validity = validityOf(activation);
  if (!validity) throw new UnknownStateError(`${name} is activated, but it is not known until when`);
  const isPermanent = activation.kind === 'permanent';
  const end = endText(validity, nowMs);
  const text = isPermanent ? `${name} is activated; its support ${end}` : `the licence of ${name} ${end}`;
  const byDays = hasThresholds(thresholds) && !isPermanent && validity.notAfterSeconds * 1_000 > nowMs;
  return {
    findings: byDays ? [{ state: stateOfEnd(validity, nowMs, thresholds), text }] : problems,
    okText: text,
    performanceData: daysLeft(validity.notAfterSeconds, nowMs, thresholds),
  };
}

function validityOf(dates: Pick<MonitoredCertificate, 'notBeforeSeconds' | 'notAfterSeconds'>): Validity | undefined {
  const { notBeforeSeconds, notAfterSeconds } = dates;
  if (notAfterSeconds == null) return undefined;
  return { notAfterSeconds, notBeforeSeconds: notBeforeSeconds ?? undefined };
}

function stateOfEnd({ notAfterSeconds }: Validity, nowMs: number, thresholds: Thresholds): CheckedObject['state'] {
  return stateOfValue(thresholds, (notAfterSeconds * 1_000 - nowMs) / dayMs);
}

function endText({ notAfterSeconds }: Validity, nowMs: number): string {
  const leftMs = notAfterSeconds * 1_000 - nowMs;
  return leftMs > 0 ? `ends in ${spanText(leftMs)}` : `ended ${spanText(-leftMs)} ago`;
}

function spanText(ms: number): string {
  return ms > dayMs ? plural(Math.floor(ms / dayMs), 'day') : formatDuration(ms);
}

function daysLeft(endSeconds: number | undefined, nowMs: number, thresholds: Thresholds) {
  if (endSeconds === undefined) return [];
  return [{ label: 'days_left', value: (endSeconds * 1_000 - nowMs) / dayMs, ...thresholdTexts(thresholds) }];
}
