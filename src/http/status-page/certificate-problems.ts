import type { CertificateStatus } from '../../monitor/status.ts';
import { listed } from './listed.ts';
import type { Problem } from './problem.ts';
import { span } from './times.ts';

const dayMs = 86_400_000;
/**
 * As zlb:threshold{name="certificate_expiry_soon_seconds"} and
 * "certificate_expiry_imminent_seconds".
 */
export const soonMs = 28 * dayMs;
export const imminentMs = 7 * dayMs;

/** Returns the problem of a certificate; it counts as used if its farms are unknown. */
export function certificateProblem(
  appliance: string,
  certificate: CertificateStatus,
  nowMs: number,
): Problem | undefined {
  const { file, kind, usedBy, isUnreadable, notAfterSeconds, state } = certificate;
  if (kind === 'csr') return undefined;
  const isUsed = usedBy === undefined || usedBy.length > 0;
  const about = { appliance, labels: { file }, sinceMs: undefined, level: isUsed ? 'critical' : 'warning' } as const;
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
  const leftMs = notAfterSeconds * 1_000 - nowMs;
  if (leftMs <= 0) {
    return {
      ...about,
      sinceMs: notAfterSeconds * 1_000,
      title: `Certificate ${file} has expired`,
      meaning: `${isUsed ? 'Clients refuse it. ' : ''}${users}`,
      alert: 'ZlbCertificateExpired',
    };
  }
  if (leftMs < imminentMs) {
    return {
      ...about,
      title: `Certificate ${file} expires in ${span(leftMs)}`,
      meaning: `${isUsed ? 'Clients will refuse it then. ' : ''}${users}`,
      alert: 'ZlbCertificateExpiryImminent',
    };
  }
  if (leftMs < soonMs && isUsed) {
    return {
      ...about,
      level: 'warning',
      title: `Certificate ${file} expires in ${span(leftMs)}`,
      meaning: `Clients will refuse it then. ${users}`,
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
