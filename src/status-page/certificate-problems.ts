import { expiryWindow } from '../lib/alert-thresholds.ts';
import type { CertificateStatus } from '../poller/status.ts';
import { listed } from './html.ts';
import type { OwnProblem } from './problem.ts';
import { span } from './times.ts';

/** Returns the problem of a certificate; it counts as used if its farms are unknown. */
export function certificateProblem(certificate: CertificateStatus, nowMs: number): OwnProblem | undefined {
  const { file, kind, usedBy, isUnreadable, notBeforeSeconds, notAfterSeconds, state } = certificate;
  if (kind === 'csr') return undefined;
  const isUsed = usedBy === undefined || usedBy.length > 0;
  const about = { labels: { file }, level: isUsed ? 'critical' : 'warning' } as const;
  const users = usersInWords(usedBy);
  if (isUnreadable || notAfterSeconds === undefined) {
    return {
      ...about,
      level: 'warning',
      title: `Certificate ${file} cannot be read`,
      meaning: `Nobody can tell until when it is valid. ${users}`,
      alert: 'ZlbCertificateUnreadable',
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
  const title = `Certificate ${file} expires in ${span(endsAtMs - nowMs)}`;
  if (window === 'imminent')
    return { ...about, title, meaning: `${isUsed ? 'Clients will refuse it then. ' : ''}${users}`, alert };
  if (window === 'soon' && isUsed) {
    return {
      ...about,
      level: 'warning',
      title,
      meaning: `It was not renewed in time. Clients will refuse it then. ${users}`,
      alert: 'ZlbCertificateExpirySoon',
    };
  }
  if (state !== 'invalid') return undefined;
  return {
    ...about,
    level: 'warning',
    title: `Certificate ${file} does not load`,
    meaning: `The appliance calls it invalid: it and its key may not belong together. ${users}`,
    alert: 'ZlbCertificateInvalid',
  };
}

function usersInWords(usedBy: readonly string[] | undefined): string {
  if (usedBy === undefined) return 'Which farms use it is not known.';
  if (usedBy.length === 0) return 'No farm uses it.';
  return `${usedBy.length === 1 ? 'Farm' : 'Farms'} ${listed(usedBy)} ${usedBy.length === 1 ? 'uses' : 'use'} it.`;
}
