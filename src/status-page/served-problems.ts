import { chainEndOf } from '../collectors/vip-probe.ts';
import { expiryWindow } from '../lib/alert-thresholds.ts';
import type { FarmStatus, ProbeStatus } from '../poller/status.ts';
import { listed } from './html.ts';
import type { Problem } from './problem.ts';
import { span } from './times.ts';

type ServedName = ProbeStatus['served'][number];
type ServedCertificate = NonNullable<ServedName['certificate']>;

/**
 * Returns the problems that clients of a farm meet: it cannot be reached, or one for each fault of
 * what it serves.
 */
export function servedProblems(appliance: string, farm: FarmStatus, nowMs: number): readonly Problem[] {
  const { name, vip, vport, probe } = farm;
  if (!probe) return [];
  const about = { appliance, labels: { farm: name }, sinceMs: undefined };
  if (probe.isReachable === false) {
    return [
      {
        ...about,
        level: 'critical',
        title: `Farm ${name} cannot be reached`,
        meaning: `Its appliance does not call it down, but a connection from here to ${vip}:${vport} ${probe.failure === 'timeout' ? 'times out' : 'is refused'}.`,
        alert: 'ZlbFarmUnreachable',
      },
    ];
  }
  const byAlert = Map.groupBy(probe.served, (served) => alertOf(served, nowMs));
  return [...byAlert].flatMap(([alert, served]) =>
    alert === undefined ? [] : [{ ...about, alert, ...described[alert](name, served, nowMs) }],
  );
}

type ServedAlert =
  | 'ZlbServedCertificateExpiryImminent'
  | 'ZlbServedCertificateDiffers'
  | 'ZlbServedCertificateWrongName'
  | 'ZlbServedCertificateExpirySoon';

/** Returns the alert that explains the others; the store's own certificates have their own. */
function alertOf({ certificate, isInStore }: ServedName, nowMs: number): ServedAlert | undefined {
  if (!certificate) return undefined;
  const { notBeforeSeconds, notAfterSeconds } = certificate;
  const window = notAfterSeconds === undefined ? undefined : expiryWindow({ notBeforeSeconds, notAfterSeconds }, nowMs);
  if (window === 'imminent' && isInStore !== true) return 'ZlbServedCertificateExpiryImminent';
  if (isInStore === false) return 'ZlbServedCertificateDiffers';
  if (certificate.coversName === false) return 'ZlbServedCertificateWrongName';
  return window !== 'imminent' && isChainDue(certificate, isInStore, nowMs)
    ? 'ZlbServedCertificateExpirySoon'
    : undefined;
}

/** Uses the life of the certificate for the whole chain, as the rule does. */
function isChainDue(certificate: ServedCertificate, isInStore: boolean | undefined, nowMs: number): boolean {
  const { notBeforeSeconds, notAfterSeconds } = certificate;
  const endSeconds = chainEndOf(certificate);
  if (notAfterSeconds === undefined || endSeconds === undefined) return false;
  if (endSeconds === notAfterSeconds && isInStore !== undefined) return false;
  const beginSeconds = notBeforeSeconds && notBeforeSeconds - notAfterSeconds + endSeconds;
  return expiryWindow({ notBeforeSeconds: beginSeconds, notAfterSeconds: endSeconds }, nowMs) !== undefined;
}

type Described = Pick<Problem, 'level' | 'title' | 'meaning'>;
type Describe = (farm: string, served: readonly ServedName[], nowMs: number) => Described;

const described: Readonly<Record<ServedAlert, Describe>> = {
  ZlbServedCertificateExpiryImminent: (farm, served, nowMs) => ({
    level: 'critical',
    title: `The certificate that farm ${farm} serves ${endsIn(served, ({ notAfterSeconds }) => notAfterSeconds, nowMs)}`,
    meaning: `Clients refuse it after its end, and the store does not have it. ${askedFor(served)}`,
  }),
  ZlbServedCertificateDiffers: (farm, served) => ({
    level: 'warning',
    title: `Farm ${farm} does not serve its certificate of the store`,
    meaning: `A replaced certificate is not served before a restart of the farm. ${askedFor(served)}`,
  }),
  ZlbServedCertificateWrongName: (farm, served) => ({
    level: 'warning',
    title: `The certificate that farm ${farm} serves does not cover its name`,
    meaning: `Clients refuse the connection. ${askedFor(served)}`,
  }),
  ZlbServedCertificateExpirySoon: (farm, served, nowMs) => ({
    level: 'warning',
    title: `The chain that farm ${farm} serves ${endsIn(served, chainEndOf, nowMs)}`,
    meaning: `Its certificate, or an intermediate, was not renewed in time. ${askedFor(served)}`,
  }),
};

function endsIn(
  served: readonly ServedName[],
  endOf: (certificate: ServedCertificate) => number | undefined,
  nowMs: number,
): string {
  const ends = served.flatMap(({ certificate }) => (certificate && endOf(certificate)) ?? []);
  const leftMs = Math.min(...ends) * 1_000 - nowMs;
  return leftMs > 0 ? `ends in ${span(leftMs)}` : 'has expired';
}

function askedFor(served: readonly ServedName[]): string {
  return `Asked for: ${listed(served.map(({ serverName }) => serverName || 'no name'))}.`;
}
