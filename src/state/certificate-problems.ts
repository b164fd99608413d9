import { expiryWindow } from './alert-thresholds.ts';
import { listed } from '../lib/text.ts';
import { ago, span } from '../lib/time.ts';
import type { CertificateStatus } from './status.ts';
import type { OwnProblem } from './problem.ts';

/**
 * `used`: a farm is known to present it. `not known`: none is, and not all farms were read; never
 * critical.
 */
type Usage = 'used' | 'unused' | 'not known';

/** Returns what is wrong with a certificate, or what is not known about it. */
export function certificateProblem(certificate: CertificateStatus, nowMs: number): OwnProblem | undefined {
  const { file, kind, usedBy, isUnreadable, notBeforeSeconds, notAfterSeconds, state } = certificate;
  if (kind === 'csr') return undefined;
  const usage = usageOf(usedBy);
  const isUsed = usage === 'used';
  const about = { about: 'certificate', labels: { file } } as const;
  const users = usersInWords(certificate, nowMs);
  if (isUnreadable || notAfterSeconds === undefined) {
    return {
      ...about,
      title: `Certificate ${file} cannot be read`,
      meaning: `Nobody can tell until when it is valid. ${users}`,
      alert: 'ZlbCertificateInvalid',
    };
  }
  const endsAtMs = notAfterSeconds * 1_000;
  const window = expiryWindow({ notBeforeSeconds, notAfterSeconds }, nowMs);
  const alert = isUsed ? 'ZlbCertificateExpiryImminent' : 'ZlbUnusedCertificateExpiry';
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
  const title = `Certificate ${file} expires in ${span(endsAtMs - nowMs)}`;
  if (window === 'imminent')
    return { ...about, title, meaning: `${isUsed ? 'Clients will refuse it then. ' : ''}${users}`, alert };
  if (window === 'soon' && usage !== 'unused') {
    return {
      ...about,
      ...(!isUsed && { level: 'unknown' }),
      title,
      meaning: `It was not renewed in time. ${isUsed ? 'Clients will refuse it then. ' : ''}${users}`,
      alert: 'ZlbCertificateExpirySoon',
    };
  }
  if (state !== 'invalid') return undefined;
  return {
    ...about,
    title: `Certificate ${file} does not load`,
    meaning: `The appliance calls it invalid: it and its key may not belong together. ${users}`,
    alert: 'ZlbCertificateInvalid',
  };
}

function usageOf(usedBy: CertificateStatus['usedBy']): Usage {
  if (usedBy === undefined) return 'not known';
  return usedBy.length > 0 ? 'used' : 'unused';
}

function usersInWords({ usedBy, usersReadMs }: CertificateStatus, nowMs: number): string {
  if (usedBy === undefined) return 'Which farms use it is not known.';
  const read = usersReadMs === undefined ? '' : ` (read ${ago(usersReadMs, nowMs)})`;
  if (usedBy.length === 0) return `No farm uses it${read}: delete it, so that nobody attaches it.`;
  return `${usedBy.length === 1 ? 'Farm' : 'Farms'} ${listed(usedBy)} ${usedBy.length === 1 ? 'uses' : 'use'} it${read}.`;
}
