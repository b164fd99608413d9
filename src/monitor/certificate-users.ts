import type { CertificateFinding } from '../collectors/findings.ts';
import type { CertificateStatus, FarmStatus } from './status.ts';

/** Who presents a certificate is known once it is known of every farm: one that was not read may be the one that does. */
export function withUsers(
  store: readonly CertificateFinding[],
  farms: readonly FarmStatus[] | undefined,
  farmsLeftOut: number | undefined,
): readonly CertificateStatus[] {
  // A datalink farm presents nothing, and is not asked.
  const isKnown = farmsLeftOut === 0 && farms?.every((farm) => farm.certificates ?? farm.profile === 'datalink');
  if (!isKnown) return store.map((each) => ({ ...each, usedBy: undefined }));
  const users = new Map<string, string[]>(store.map(({ file }) => [file, []]));
  for (const { name, certificates = [] } of farms ?? []) for (const file of certificates) users.get(file)?.push(name);
  return store.map((each) => ({ ...each, usedBy: users.get(each.file) }));
}

/** Whether two farms, or one at two times, make no difference to {@link withUsers}. */
export function presentsTheSame(one: FarmStatus, other: FarmStatus | undefined): boolean {
  return one.name === other?.name && one.profile === other.profile && one.certificates === other.certificates;
}
