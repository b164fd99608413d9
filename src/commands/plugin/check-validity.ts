import { expiryWindow, type Validity } from '../../lib/alert-thresholds.ts';
import { counted, globMatcher } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';
import { type MonitoredCertificate, requireFresh, type Seen } from './exporter-reply.ts';
import { type CheckResult, type Finding, type Limits, NothingKnown, rangesOf, stateBy } from './check-result.ts';

const dayMs = 86_400_000;

/**
 * How long certificates are valid: by `-w` and `-c` in days, or else by the windows of the alerts.
 */
export function checkCertificates(seen: Seen, glob: string, limits: Limits): CheckResult {
  requireFresh(seen, 'certificates');
  const { appliance, nowMs } = seen;
  if (!appliance.certificates) throw new NothingKnown(`the certificates of ${appliance.name} are not known`);
  const fits = globMatcher(glob);
  const found = appliance.certificates.filter(({ file, kind }) => kind !== 'csr' && fits(file));
  if (found.length === 0 && glob !== '*') throw new NothingKnown(`${appliance.name} has no certificate ${glob}`);
  const ends = found.flatMap(({ notAfterSeconds }) => notAfterSeconds ?? []);
  const firstEnd = ends.length === 0 ? undefined : Math.min(...ends);
  const count = `${counted(found.length, 'certificate')} of ${appliance.name}`;
  return {
    findings: found.map((certificate) => certificateFinding(certificate, nowMs, limits)),
    otherwise: firstEnd === undefined ? count : `${count}; the first ${endText({ notAfterSeconds: firstEnd }, nowMs)}`,
    measures: daysLeft(firstEnd, nowMs, limits),
  };
}

function certificateFinding(certificate: MonitoredCertificate, nowMs: number, limits: Limits): Finding {
  const { file, state, isUnreadable, usedBy } = certificate;
  const validity = validityOf(certificate);
  if (isUnreadable || !validity) return { state: 'UNKNOWN', text: `certificate ${file} cannot be read` };
  // If it is not known which farms use it, it counts as used.
  const isUsed = usedBy == null || usedBy.length > 0;
  const text = `certificate ${file} ${endText(validity, nowMs)}${isUsed ? '' : ', no farm uses it'}`;
  const expiry = stateOfEnd(validity, nowMs, limits);
  if (isUsed && (validity.notBeforeSeconds ?? 0) * 1_000 > nowMs)
    return { state: 'CRITICAL', text: `certificate ${file} is not valid yet` };
  if (expiry === 'CRITICAL') return { state: isUsed ? 'CRITICAL' : 'WARNING', text };
  if (expiry === 'WARNING' && isUsed) return { state: 'WARNING', text };
  if (state === 'invalid') return { state: 'WARNING', text: `certificate ${file} does not load` };
  return { state: 'OK', text };
}

/** Whether an appliance is activated, and for how long. */
export function checkActivation(seen: Seen, limits: Limits): CheckResult {
  const { appliance, nowMs } = seen;
  const { name, deactivated, activation } = appliance;
  if (deactivated || activation?.status === 'deactivated')
    return { findings: [{ state: 'CRITICAL', text: `${name} is deactivated` }], otherwise: '', measures: [] };
  requireFresh(seen, 'activation');
  if (activation?.status === 'not_applicable')
    return { findings: [], otherwise: `${name} needs no activation`, measures: [] };
  if (activation?.status !== 'activated') throw new NothingKnown(`it is not known whether ${name} is activated`);
  const validity = validityOf(activation);
  if (!validity) throw new NothingKnown(`${name} is activated, but it is not known until when`);
  const endMs = validity.notAfterSeconds * 1_000;
  const measures = daysLeft(validity.notAfterSeconds, nowMs, limits);
  // A permanent licence works on after its end. One that is active a day after its end is no trial.
  if (activation.kind === 'permanent' || endMs < nowMs - dayMs) {
    const text = `the support of ${name} ${endText(validity, nowMs)}`;
    const findings: readonly Finding[] = endMs > nowMs ? [] : [{ state: 'WARNING', text }];
    return {
      findings,
      otherwise: `${name} is activated; its support ${endText(validity, nowMs)}`,
      measures,
    };
  }
  const text = `the licence of ${name} ${endText(validity, nowMs)}`;
  return { findings: [{ state: stateOfEnd(validity, nowMs, limits), text }], otherwise: text, measures };
}

function validityOf(dates: Pick<MonitoredCertificate, 'notBeforeSeconds' | 'notAfterSeconds'>): Validity | undefined {
  const { notBeforeSeconds, notAfterSeconds } = dates;
  if (notAfterSeconds == null) return undefined;
  return { notAfterSeconds, notBeforeSeconds: notBeforeSeconds ?? undefined };
}

function stateOfEnd(validity: Validity, nowMs: number, limits: Limits): 'OK' | 'WARNING' | 'CRITICAL' {
  const leftMs = validity.notAfterSeconds * 1_000 - nowMs;
  if (leftMs <= 0) return 'CRITICAL';
  if (limits.warning !== undefined || limits.critical !== undefined) return stateBy(limits, leftMs / dayMs, 'at least');
  const window = expiryWindow(validity, nowMs);
  if (window === undefined) return 'OK';
  return window === 'imminent' ? 'CRITICAL' : 'WARNING';
}

function endText({ notAfterSeconds }: Validity, nowMs: number): string {
  const leftMs = notAfterSeconds * 1_000 - nowMs;
  return leftMs > 0 ? `ends in ${spanText(leftMs)}` : `ended ${spanText(-leftMs)} ago`;
}

/** Returns whole days, or less than one in full. */
function spanText(ms: number): string {
  return ms > dayMs ? counted(Math.floor(ms / dayMs), 'day') : formatDuration(ms);
}

function daysLeft(endSeconds: number | undefined, nowMs: number, limits: Limits) {
  if (endSeconds === undefined) return [];
  return [{ label: 'days_left', value: (endSeconds * 1_000 - nowMs) / dayMs, ...rangesOf(limits, 'at least') }];
}
