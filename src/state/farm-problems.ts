import { joinFirst } from '../lib/text.ts';
import { ago, span } from '../lib/time.ts';
import { answersNoHandshake, type ServedName } from '../collectors/vip.ts';
import { chainEndOf, type ServedCertificate } from '../collectors/vip-probe.ts';
import { expiryWindow } from './alert-thresholds.ts';
import { type BackendStatus, type FarmStatus, type ProbeStatus, isSilentFarm } from './status.ts';
import type { ProblemDraft } from './problem.ts';

/** Facts of the appliance that are needed to find the problems of one of its farms. */
export interface FarmContext {
  readonly nowMs: number;
  /** Files of the certificate store; undefined while that is not known. */
  readonly files: ReadonlySet<string> | undefined;
  readonly filesReadMs: number | undefined;
  readonly readsBackends: boolean;
  /** L4 farms that went down together; empty if fewer than two did. */
  readonly l4Down: ReadonlySet<string>;
  /** L4 farms whose daemon a start of an HTTP farm calls; empty unless the proxy is zproxy. */
  readonly l4Reached: readonly string[];
}

/**
 * Returns the problems of a farm: its state; unless it is down, its services without backends and
 * what its clients meet; and what is not known of it.
 */
export function farmProblems(farm: FarmStatus, context: FarmContext): readonly ProblemDraft[] {
  const ofState = stateProblem(farm, context);
  const missing = missingCertificateProblems(farm, context);
  if (ofState?.alert === 'ZlbFarmDown') return [ofState, ...missing];
  const services = Map.groupBy(farm.backends ?? [], ({ service }) => service);
  const ofServices = [...services].flatMap(([service, backends]) => serviceProblem(farm, service, backends) ?? []);
  // The state `problem` of an appliance means that some backends of the farm are down.
  const unexplained = farm.state === 'problem' && ofServices.length === 0 ? [unexplainedProblem(farm)] : [];
  const unread = context.readsBackends && isUnread(farm) ? [unreadProblem(farm)] : [];
  const served = servedProblems(farm, context);
  return [...(ofState ? [ofState] : []), ...ofServices, ...unexplained, ...served, ...missing, ...unread];
}

function stateProblem(farm: FarmStatus, { l4Down, l4Reached, nowMs }: FarmContext): ProblemDraft | undefined {
  const { name, state, sinceMs } = farm;
  const about = { about: 'farm', labels: { farm: name }, sinceMs: sinceMs ?? 'unseen' } as const;
  if (isSilentFarm(farm)) {
    const asked = farm.askedMs === undefined ? '' : ` ${ago(farm.askedMs, nowMs)}`;
    const next =
      farm.nextLookMs === undefined
        ? ''
        : ` No call to it has ended, and each leaves a process on the appliance until the proxy ends: the next one is made in ${span(Math.max(farm.nextLookMs - nowMs, 0))}.`;
    const reached =
      l4Reached.length === 0
        ? ''
        : ` It also calls the daemon of the L4 farms: look at ${joinFirst(l4Reached)} after it.`;
    return {
      about: 'farm',
      labels: { farm: name },
      title: `The proxy of farm ${name} does not answer`,
      meaning: `It did not answer its appliance in time${asked}: connections may hang. A restart is the repair.${next}${reached}`,
      alert: 'ZlbFarmDown',
      repair: 'restart',
    };
  }
  if (farm.answersClients) return answeringProblem(farm, nowMs);
  switch (state) {
    case 'down':
      return {
        ...about,
        title: `Farm ${name} is down`,
        meaning: `${downMeaning(farm, nowMs)}${l4Down.has(name) ? ` ${l4Meaning(l4Down.size)}` : ''}`,
        alert: 'ZlbFarmDown',
        repair: 'start',
      };
    case 'critical':
      return {
        ...about,
        title: `Farm ${name} is critical`,
        meaning: hasNoBackend(farm)
          ? `It runs${listenerText(farm)}, and it has no backend: its clients get errors.`
          : `It runs${listenerText(farm)}, but none of its backends is up: its clients get errors.`,
        alert: 'ZlbFarmDown',
      };
    case 'needed_restart':
      return {
        ...about,
        title: `Farm ${name} waits for a restart`,
        meaning: 'Its latest changes are not in effect yet.',
        alert: 'ZlbFarmNeedsRestart',
        repair: 'restart',
      };
    case 'unknown':
      return {
        ...about,
        title: `The state of farm ${name} is unknown`,
        meaning: 'Its appliance gives it no state, or one that is not known here. It may be down.',
        alert: 'ZlbFarmStatusUnknown',
      };
    default:
      return undefined;
  }
}

/** Returns the problem of a farm that was silent, and whose proxy answers clients again. */
function answeringProblem({ name, probe, askedMs }: FarmStatus, nowMs: number): ProblemDraft {
  const handshake = probe ? ` with ${probe.address} from here was answered ${ago(probe.atMs, nowMs)}` : ' was answered';
  const asked = askedMs === undefined ? '' : ` ${ago(askedMs, nowMs)}`;
  return {
    about: 'farm',
    level: 'unknown',
    labels: { farm: name },
    title: `The proxy of farm ${name} answers clients again`,
    meaning: `A TLS handshake${handshake}. It did not answer its appliance when that was asked before${asked}, and it is asked again. Do not restart it now.`,
    alert: 'ZlbFarmStatusUnknown',
  };
}

/** Returns true if a farm has no backends, by its configuration. */
function hasNoBackend({ backends, configuredBackends, configuredAtMs }: FarmStatus): boolean {
  return configuredAtMs !== undefined && (backends ?? configuredBackends)?.length === 0;
}

function listenerText({ vip, vport }: FarmStatus): string {
  if (!vip) return '';
  return /\D/.test(vport ?? '') ? ` on ${vip}, ports ${vport}` : ` on ${vip}${vport ? `:${vport}` : ''}`;
}

/** Says that the appliance reports it as down, and whether a connection from here succeeded. */
function downMeaning(farm: FarmStatus, nowMs: number): string {
  const { probe } = farm;
  const said = 'The appliance says that it is down.';
  if (probe?.isReachable === true)
    return `${said} Nevertheless, a connection from here to ${probe.address} succeeded ${ago(probe.atMs, nowMs)}: its clients may still be served.`;
  if (probe?.isReachable === false)
    return `${said} A connection from here to ${probe.address} ${probeFailureText(probe, nowMs)}.`;
  return listenerText(farm) === '' ? said : `${said} It listened${listenerText(farm)}.`;
}

function probeFailureText({ failure, atMs }: ProbeStatus, nowMs: number): string {
  return `${failure === 'timeout' ? 'timed out' : 'was refused'} ${ago(atMs, nowMs)}`;
}

/** The remedy if the daemon of the L4 farms was started without them. */
export const l4Remedy =
  'Their daemon nftlb may have been started without them: stop and start each L4 farm, since the start of one leaves the others without rules.';

function l4Meaning(count: number): string {
  return `${count} L4 farms are down at once: their daemon nftlb may be dead. Stop and start each of them: the start of one leaves the others without rules, although the appliance calls them up again.`;
}

/** Returns the age of a reading for a sentence; empty if it is unknown. */
function readAgoText(readMs: number | undefined, nowMs: number): string {
  return readMs === undefined ? '' : ` (read ${ago(readMs, nowMs)})`;
}

/** Returns the problem that the store lacks certificates of the farm, which then cannot start again. */
function missingCertificateProblems(
  { name, certificates = [], configuredAtMs }: FarmStatus,
  { files, filesReadMs, nowMs }: FarmContext,
): readonly ProblemDraft[] {
  const missing = files ? certificates.filter((file) => !files.has(file)) : [];
  if (missing.length === 0) return [];
  return [
    {
      about: 'farm',
      labels: { farm: name },
      title: `Farm ${name} has a certificate whose file is gone`,
      meaning: `The store${readAgoText(filesReadMs, nowMs)} does not have ${joinFirst(missing)}, which its configuration${readAgoText(configuredAtMs, nowMs)} names. The farm serves what it has loaded, and cannot start again.`,
      alert: 'ZlbCertificateInvalid',
    },
  ];
}

/** Returns true if backends are not known, although the API has them: not for datalink and stopped farms. */
export function isUnread({ profile, state, backends, configuredBackends }: FarmStatus): boolean {
  if (profile === 'datalink' || state === 'down') return false;
  // A farm that only redirects has no backends.
  if (backends === undefined && configuredBackends?.length === 0) return false;
  return backends === undefined || backends.some((each) => each.state === 'unknown');
}

function unreadProblem({ name }: FarmStatus): ProblemDraft {
  return {
    about: 'farm',
    level: 'unknown',
    labels: { farm: name },
    title: `The backends of farm ${name} are not known`,
    meaning:
      'They were not read since its state changed, or so long ago that they are not shown, or have no known state.',
    alert: 'ZlbCollectorStale',
  };
}

function unexplainedProblem({ name, sinceMs, backends }: FarmStatus): ProblemDraft {
  return {
    about: 'farm',
    labels: { farm: name },
    sinceMs: sinceMs ?? 'unseen',
    title: `Some backends of farm ${name} are down`,
    meaning:
      backends === undefined
        ? 'Its appliance says so. The states of its backends were not read.'
        : 'Its appliance says so, and calls none of those that it lists down.',
    alert: 'ZlbBackendDown',
  };
}

function serviceProblem(
  farm: FarmStatus,
  service: string,
  backends: readonly BackendStatus[],
): ProblemDraft | undefined {
  const down = backends.filter(({ state }) => state === 'down');
  const known = backends.filter(({ state }) => state !== 'unknown').length;
  const up = backends.filter(({ state }) => state === 'up').length;
  const where = `${service ? `service ${service} of ` : ''}farm ${farm.name}`;
  const sinceMs = newestChangeMs(backends);
  const labels = { farm: farm.name, ...(service && { service }) };
  if (known > 0 && up === 0) {
    return {
      about: 'farm',
      labels,
      sinceMs,
      title: `No backend is up in ${where}`,
      meaning: `Its clients get errors. ${joinFirst(backends.map(({ backend, state }) => `${backend} is ${state}`))}.`,
      alert: 'ZlbFarmNoBackends',
    };
  }
  if (down.length === 0) return undefined;
  const [first] = down;
  const wanted = backends.filter(({ state }) => state !== 'maintenance').length;
  return {
    about: 'farm',
    labels: { ...labels, ...(first && down.length === 1 && { backend: first.backend }) },
    sinceMs: newestChangeMs(down),
    title:
      down.length === 1
        ? `Backend ${first?.backend} of ${where} is down`
        : `${down.length} of ${backends.length} backends of ${where} are down`,
    meaning:
      down.length === 1
        ? `${up} of ${wanted} backends ${up === 1 ? 'is up and carries' : 'are up and carry'} its load.`
        : `${joinFirst(down.map(({ backend }) => backend))}; ${up} ${up === 1 ? 'carries' : 'carry'} their load.`,
    // Also if ZlbFarmDegraded fires, because the remedy is in the runbook of ZlbBackendDown.
    alert: 'ZlbBackendDown',
  };
}

/** Returns when the last of these backends changed its state. */
function newestChangeMs(backends: readonly BackendStatus[]): number | 'unseen' {
  const times = backends.map(({ sinceMs }) => sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.max(...times) : 'unseen';
}

/** Returns what clients of a farm meet: it cannot be reached, or its certificates have problems. */
function servedProblems(farm: FarmStatus, { nowMs, filesReadMs }: FarmContext): readonly ProblemDraft[] {
  const { name, probe, profile } = farm;
  if (!probe) return [];
  const about = { about: 'farm', labels: { farm: name } } as const;
  if (probe.isReachable === undefined && probe.failure !== 'not_allowed') {
    return [
      {
        ...about,
        level: 'unknown',
        title: `Whether farm ${name} serves its clients is unknown`,
        meaning: `A TCP connection from here to ${probe.address} ${probeFailureText(probe, nowMs)}, and none has succeeded since the exporter was started: its clients are cut off, or it is one for UDP. Name those in vip.udp_farms.`,
        alert: 'ZlbFarmUnreachable',
      },
    ];
  }
  if (probe.isReachable === false) {
    const isCut = profile === 'l4xnat' && probe.failure === 'refused';
    return [
      {
        ...about,
        title: `Farm ${name} cannot be reached`,
        meaning: `Its appliance does not call it down, but a connection from here to ${probe.address} ${probeFailureText(probe, nowMs)}.${isCut ? ` ${l4Remedy}` : ''}`,
        alert: 'ZlbFarmUnreachable',
      },
    ];
  }
  if (answersNoHandshake(probe)) {
    return [
      {
        ...about,
        title: `Farm ${name} accepts connections and does not answer`,
        meaning: `A TLS handshake with ${probe.address} from here timed out ${ago(probe.atMs, nowMs)}: its clients are not served.`,
        alert: 'ZlbFarmUnreachable',
      },
    ];
  }
  const byAlert = Map.groupBy(probe.served, (served) => alertOfServed(served, nowMs));
  return [...byAlert].flatMap(([alert, served]) =>
    alert === undefined
      ? []
      : [{ ...about, alert, ...servedProblemTexts[alert]({ farm: name, served, nowMs, probe, filesReadMs }) }],
  );
}

type ServedAlert =
  | 'ZlbCertificateExpiryImminent'
  | 'ZlbServedCertificateDiffers'
  | 'ZlbServedCertificateWrongName'
  | 'ZlbCertificateExpirySoon';

/** Returns the most important alert of a served certificate; those of the store have alerts of their own. */
function alertOfServed({ certificate, isInStore }: ServedName, nowMs: number): ServedAlert | undefined {
  if (!certificate) return undefined;
  const { notBeforeSeconds, notAfterSeconds } = certificate;
  const window = notAfterSeconds === undefined ? undefined : expiryWindow({ notBeforeSeconds, notAfterSeconds }, nowMs);
  if (window === 'imminent' && isInStore !== true) return 'ZlbCertificateExpiryImminent';
  if (isInStore === false) return 'ZlbServedCertificateDiffers';
  if (certificate.coversName === false) return 'ZlbServedCertificateWrongName';
  return window !== 'imminent' && isChainDue(certificate, isInStore, nowMs) ? 'ZlbCertificateExpirySoon' : undefined;
}

/** Returns true if the chain expires soon, by the life of its certificate, as the alert does. */
function isChainDue(certificate: ServedCertificate, isInStore: boolean | undefined, nowMs: number): boolean {
  const { notBeforeSeconds, notAfterSeconds } = certificate;
  const endSeconds = chainEndOf(certificate);
  if (notAfterSeconds === undefined || endSeconds === undefined) return false;
  if (endSeconds === notAfterSeconds && isInStore !== undefined) return false;
  const beginSeconds = notBeforeSeconds && notBeforeSeconds - notAfterSeconds + endSeconds;
  return expiryWindow({ notBeforeSeconds: beginSeconds, notAfterSeconds: endSeconds }, nowMs) !== undefined;
}

type ProblemText = Pick<ProblemDraft, 'title' | 'meaning'>;

interface Served {
  readonly farm: string;
  readonly served: readonly ServedName[];
  readonly nowMs: number;
  readonly probe: ProbeStatus;
  readonly filesReadMs: number | undefined;
}

const servedProblemTexts: Readonly<Record<ServedAlert, (served: Served) => ProblemText>> = {
  ZlbCertificateExpiryImminent: (each) => ({
    title: `The certificate that farm ${each.farm} serves ${expiryText(each, ({ notAfterSeconds }) => notAfterSeconds)}`,
    meaning: `Clients refuse it after its end, and the store${readAgoText(each.filesReadMs, each.nowMs)} does not have it. ${askedForText(each)}`,
  }),
  ZlbServedCertificateDiffers: (each) => ({
    title: `Farm ${each.farm} does not serve its certificate of the store`,
    meaning: `A replaced certificate is not served before a restart of the farm. ${askedForText(each)}${each.filesReadMs === undefined ? '' : ` The store was read ${ago(each.filesReadMs, each.nowMs)}.`}`,
  }),
  ZlbServedCertificateWrongName: (each) => ({
    title: `The certificate that farm ${each.farm} serves does not cover its name`,
    meaning: `Clients refuse the connection. ${askedForText(each)}`,
  }),
  ZlbCertificateExpirySoon: (each) => ({
    title: `The chain that farm ${each.farm} serves ${expiryText(each, chainEndOf)}`,
    meaning: `Its certificate, or an intermediate, was not renewed in time. ${askedForText(each)}`,
  }),
};

function expiryText({ served, nowMs }: Served, endOf: (certificate: ServedCertificate) => number | undefined): string {
  const ends = served.flatMap(({ certificate }) => (certificate && endOf(certificate)) ?? []);
  const leftMs = Math.min(...ends) * 1_000 - nowMs;
  return leftMs > 0 ? `ends in ${span(leftMs)}` : 'has expired';
}

function askedForText({ served, probe, nowMs }: Served): string {
  return `Asked ${ago(probe.atMs, nowMs)} for: ${joinFirst(served.map(({ serverName }) => serverName || 'no name'))}.`;
}
