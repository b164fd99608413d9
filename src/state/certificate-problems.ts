import { expiryWindow } from './alert-thresholds.ts';
import { joinFirst } from '../lib/text.ts';
import { ago, span } from '../lib/time.ts';
import type { Level } from './level.ts';
import { type ProblemDraft, withLevel } from './problem.ts';
import type { CertificateStatus } from './status.ts';

/**
 * `used`: a farm is known to present it, or was when it was last read. `not known`: none is, and
 * not all farms were read; never critical.
 */
type CertificateUse = 'used' | 'unused' | 'not known';

/** Returns what is wrong with a certificate, or what is not known about it. */
export function certificateProblem(certificate: CertificateStatus, nowMs: number): ProblemDraft | undefined {
  const { file, kind, isUnreadable, notAfterSeconds, state } = certificate;
  if (kind === 'csr') return undefined;
  const invalid = { about: 'certificate', labels: { file }, alert: 'ZlbCertificateInvalid' } as const;
  const users = usersInWords(certificate, nowMs);
  if (isUnreadable || notAfterSeconds === undefined) {
    return {
      ...invalid,
      title: `Certificate ${file} cannot be read`,
      meaning: `Its end date is unknown. ${users}`,
    };
  }
  const ofDates = validityProblem(certificate, notAfterSeconds, nowMs);
  if (ofDates || state !== 'invalid') return ofDates;
  return {
    ...invalid,
    title: `Certificate ${file} does not load`,
    meaning: `The appliance calls it invalid: it and its key may not belong together. ${users}`,
  };
}

/** Returns how bad the dates of a certificate are; `well` also where they are not known. */
export function validityLevel(certificate: CertificateStatus, nowMs: number): Level {
  const { notAfterSeconds } = certificate;
  const problem = notAfterSeconds === undefined ? undefined : validityProblem(certificate, notAfterSeconds, nowMs);
  return problem ? withLevel(problem).level : 'well';
}

function validityProblem(
  certificate: CertificateStatus,
  notAfterSeconds: number,
  nowMs: number,
): ProblemDraft | undefined {
  const { file, notBeforeSeconds } = certificate;
  const usage = usageOf(certificate);
  const isUsed = usage === 'used';
  const users = usersInWords(certificate, nowMs);
  const about = { about: 'certificate', labels: { file } } as const;
  const alert = isUsed ? 'ZlbCertificateExpiryImminent' : 'ZlbUnusedCertificateExpiry';
  const endsAtMs = notAfterSeconds * 1_000;
  if (endsAtMs <= nowMs) {
    return {
      ...about,
      sinceMs: endsAtMs,
      title: `Certificate ${file} has expired`,
      meaning: `${isUsed ? 'Clients refuse it. ' : ''}${users}`,
      alert,
    };
  }
  if (isUsed && notBeforeSeconds !== undefined && notBeforeSeconds * 1_000 > nowMs) {
    return {
      ...about,
      title: `Certificate ${file} is not valid yet`,
      meaning: `Clients refuse it for ${span(notBeforeSeconds * 1_000 - nowMs)} more. ${users}`,
      alert: 'ZlbCertificateExpiryImminent',
    };
  }
  const window = expiryWindow({ notBeforeSeconds, notAfterSeconds }, nowMs);
  const title = `Certificate ${file} expires in ${span(endsAtMs - nowMs)}`;
  if (window === 'imminent')
    return { ...about, title, meaning: `${isUsed ? 'Clients will refuse it then. ' : ''}${users}`, alert };
  if (window === undefined || usage === 'unused') return undefined;
  return {
    ...about,
    ...(!isUsed && { level: 'unknown' }),
    title,
    meaning: `It was not renewed in time. ${isUsed ? 'Clients will refuse it then. ' : ''}${users}`,
    alert: 'ZlbCertificateExpirySoon',
  };
}

function usageOf({ usedBy, lastKnownUse }: CertificateStatus): CertificateUse {
  const farms = usedBy ?? lastKnownUse?.farms;
  if (farms === undefined) return 'not known';
  return farms.length > 0 ? 'used' : 'unused';
}

function usersInWords({ usedBy, usersReadMs, lastKnownUse }: CertificateStatus, nowMs: number): string {
  if (usedBy === undefined) {
    if (!lastKnownUse) return 'Which farms use it is not known.';
    const { farms, readMs } = lastKnownUse;
    return `It was used by ${farmsInWords(farms)} ${ago(readMs, nowMs)}; whether it still is was not read since.`;
  }
  const read = usersReadMs === undefined ? '' : ` (read ${ago(usersReadMs, nowMs)})`;
  if (usedBy.length === 0) return `No farm uses it${read}: delete it, so that nobody attaches it.`;
  const farms = farmsInWords(usedBy).replace(/^f/, 'F');
  return `${farms} ${usedBy.length === 1 ? 'uses' : 'use'} it${read}.`;
}

function farmsInWords(names: readonly string[]): string {
  return `${names.length === 1 ? 'farm' : 'farms'} ${joinFirst(names)}`;
}
