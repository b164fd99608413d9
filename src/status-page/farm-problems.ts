import { chainEndOf } from '../collectors/vip-probe.ts';
import { alertThresholds, expiryWindow } from '../lib/alert-thresholds.ts';
import type { BackendStatus, FarmStatus, ProbeStatus } from '../poller/status.ts';
import { listed } from './html.ts';
import type { OwnProblem } from './problem.ts';
import { span } from './times.ts';

type ServedName = ProbeStatus['served'][number];
type ServedCertificate = NonNullable<ServedName['certificate']>;

/**
 * Returns the problems of a farm: one for its state, or else one for each service that lacks
 * backends, and what its clients meet.
 */
export function farmProblems(farm: FarmStatus, nowMs: number): readonly OwnProblem[] {
  const ofState = stateProblem(farm);
  if (ofState?.level === 'critical') return [ofState];
  const services = Map.groupBy(farm.backends ?? [], ({ service }) => service);
  const ofServices = [...services].flatMap(([service, backends]) => serviceProblem(farm, service, backends) ?? []);
  // `problem` is the appliance's word for a farm of whose backends some are down.
  const unexplained = farm.state === 'problem' && ofServices.length === 0 ? [unexplainedProblem(farm)] : [];
  return [...(ofState ? [ofState] : []), ...ofServices, ...unexplained, ...servedProblems(farm, nowMs)];
}

function stateProblem({ name, state, sinceMs, vip, vport }: FarmStatus): OwnProblem | undefined {
  const where = vip ? ` on ${vip}${vport ? `:${vport}` : ''}` : '';
  const about = { labels: { farm: name }, sinceMs: sinceMs ?? ('unseen' as const) };
  switch (state) {
    case 'down':
      return {
        ...about,
        level: 'critical',
        title: `Farm ${name} is down`,
        meaning: `It is stopped: connections to it${where} are refused or time out.`,
        alert: 'ZlbFarmDown',
      };
    case 'critical':
      return {
        ...about,
        level: 'critical',
        title: `Farm ${name} is critical`,
        meaning: `It runs${where}, but none of its backends is up: its clients get errors.`,
        alert: 'ZlbFarmDown',
      };
    case 'needed_restart':
      return {
        ...about,
        level: 'warning',
        title: `Farm ${name} waits for a restart`,
        meaning: 'What was changed on it is not in force.',
        alert: 'ZlbFarmNeedsRestart',
      };
    case 'unknown':
      return {
        ...about,
        level: 'warning',
        title: `Nobody can tell how farm ${name} is`,
        meaning: 'Its appliance gives it no state, or one that is not known here. It may be down.',
        alert: 'ZlbFarmStatusUnknown',
      };
    default:
      return undefined;
  }
}

function unexplainedProblem({ name, sinceMs }: FarmStatus): OwnProblem {
  return {
    level: 'warning',
    labels: { farm: name },
    sinceMs: sinceMs ?? 'unseen',
    title: `Some backends of farm ${name} are down`,
    meaning: 'Its appliance says so; which ones was not read yet.',
    alert: 'ZlbBackendDown',
  };
}

function serviceProblem(farm: FarmStatus, service: string, backends: readonly BackendStatus[]): OwnProblem | undefined {
  const down = backends.filter(({ state }) => state === 'down');
  const known = backends.filter(({ state }) => state !== 'unknown').length;
  const up = backends.filter(({ state }) => state === 'up').length;
  const where = `${service ? `service ${service} of ` : ''}farm ${farm.name}`;
  const sinceMs = latest(backends);
  const labels = { farm: farm.name, ...(service && { service }) };
  if (known > 0 && up === 0) {
    return {
      level: 'critical',
      labels,
      sinceMs,
      title: `No backend is up in ${where}`,
      meaning: `Its clients get errors. ${listed(backends.map(({ backend, state }) => `${backend} is ${state}`))}.`,
      alert: 'ZlbFarmNoBackends',
    };
  }
  if (down.length === 0) return undefined;
  const [first] = down;
  const wanted = backends.filter(({ state }) => state !== 'maintenance').length;
  return {
    level: 'warning',
    labels: { ...labels, ...(first && down.length === 1 && { backend: first.backend }) },
    sinceMs: latest(down),
    title:
      down.length === 1
        ? `Backend ${first?.backend} of ${where} is down`
        : `${down.length} of ${backends.length} backends of ${where} are down`,
    meaning:
      down.length === 1
        ? `${up} of ${wanted} backends ${up === 1 ? 'is up and carries' : 'are up and carry'} its load.`
        : `${listed(down.map(({ backend }) => backend))}; ${up} ${up === 1 ? 'carries' : 'carry'} their load.`,
    alert: up / wanted < alertThresholds.farmBackendsUpRatio ? 'ZlbFarmDegraded' : 'ZlbBackendDown',
  };
}

/** When the newest of them became as it is. */
function latest(backends: readonly BackendStatus[]): number | 'unseen' {
  const times = backends.map(({ sinceMs }) => sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.max(...times) : 'unseen';
}

/**
 * Returns the problems that clients of a farm meet: it cannot be reached, or one for each fault of
 * what it serves.
 */
function servedProblems(farm: FarmStatus, nowMs: number): readonly OwnProblem[] {
  const { name, vip, vport, probe } = farm;
  if (!probe) return [];
  const about = { labels: { farm: name } };
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

type Described = Pick<OwnProblem, 'level' | 'title' | 'meaning'>;
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
