import type { UnreadableField } from '../appliance/client.ts';
import { plural, listed } from '../lib/text.ts';
import { ago, span } from '../lib/time.ts';
import {
  type ApplianceStatus,
  type CollectorFailure,
  type CollectorStatus,
  type FarmStatus,
  type InterfaceStatus,
  isHung,
} from './status.ts';
import { certificateProblem } from './certificate-problems.ts';
import { farmProblems, isUnread } from './farm-problems.ts';
import { requestLogProblems } from './request-log-problems.ts';
import { compareProblems, type OwnProblem, type Problem, withLevel } from './problem.ts';
import { expiryWindow } from './alert-thresholds.ts';
import { asksEachFarm, isAnswering, lastReadMs, reasonWords, refusesKey } from './freshness.ts';

/**
 * Returns everything that is wrong with an appliance and its objects, and what is not known about
 * them; the worst first.
 */
export function applianceProblems(status: ApplianceStatus, nowMs: number): readonly Problem[] {
  const { name: appliance, farms = [], certificates, interfaces = [], collectors } = status;
  const context = {
    nowMs,
    files: certificates && new Set(certificates.map(({ file }) => file)),
    filesReadMs: collectors.find((each) => each.name === 'certificates')?.lastSuccessMs,
    readsBackends: collectors.some(({ name, ok }) => name === 'backends' && ok !== undefined),
    l4Down: l4FarmsDownTogether(farms),
    l4Reached: l4FarmsReached(farms),
  };
  const own = [
    activationProblem(status, nowMs),
    apiCertificateProblem(status, nowMs),
    ...readingProblems(status, nowMs),
    seriesProblem(status),
    ...requestLogProblems(status, nowMs),
    firstReadingProblem(status),
    ...farms.flatMap((farm) => farmProblems(farm, context)),
    ...interfaces.map((each) => interfaceProblem(appliance, each)),
    ...(certificates ?? []).map((certificate) => certificateProblem(certificate, nowMs)),
  ];
  const date = lastReadDate(status, nowMs);
  return own
    .flatMap((problem) => (problem ? { appliance, ...withLevel(date(problem)) } : []))
    .toSorted(compareProblems);
}

/** What an appliance says of its objects; probes of farms go on while it gives no answer. */
const ownWord: readonly OwnProblem['alert'][] = [
  'ZlbFarmDown',
  'ZlbFarmNoBackends',
  'ZlbFarmNeedsRestart',
  'ZlbBackendDown',
  'ZlbInterfaceDown',
];

/** Returns what adds the age of the word of an appliance that gives no answer. */
function lastReadDate(status: ApplianceStatus, nowMs: number): (problem: OwnProblem) => OwnProblem {
  const lastMs = isAnswering(status) ? undefined : lastReadMs(status);
  if (lastMs === undefined) return (problem) => problem;
  return (problem) =>
    ownWord.includes(problem.alert)
      ? { ...problem, meaning: `${problem.meaning} Last read ${ago(lastMs, nowMs)}.` }
      : problem;
}

/** Returns one doubt for all farms whose backends the first run has not reached yet. */
function firstReadingProblem({ farms = [], collectors }: ApplianceStatus): OwnProblem | undefined {
  const unread = farms.filter(isUnread).length;
  if (unread === 0 || !collectors.some(({ name, ok }) => name === 'backends' && ok === undefined)) return undefined;
  return {
    about: 'appliance',
    level: 'unknown',
    title: `The backends of ${plural(unread, 'farm')} are read for the first time`,
    meaning: 'They follow one after the other, within a few minutes.',
    alert: 'ZlbCollectorStale',
  };
}

/** Returns the L4 farms whose daemon the start of an HTTP farm calls (docs/api.md §4.8). */
function l4FarmsReached(farms: readonly FarmStatus[]): readonly string[] {
  if (!farms.some(({ proxy }) => proxy === 'zproxy')) return [];
  return farms.filter(({ profile }) => profile === 'l4xnat').map(({ name }) => name);
}

/**
 * Returns the L4 farms that went down at the same reading as another one; where nobody saw when, as
 * at a start, those of an appliance whose L4 farms are all down.
 */
function l4FarmsDownTogether(farms: readonly FarmStatus[]): ReadonlySet<string> {
  const l4 = farms.filter(({ profile }) => profile === 'l4xnat');
  const down = l4.filter(({ state }) => state === 'down');
  const together = [...Map.groupBy(down, ({ sinceMs }) => sinceMs)].filter(
    ([sinceMs, { length }]) => length > 1 && (sinceMs !== undefined || length === l4.length),
  );
  return new Set(together.flatMap(([, each]) => each.map(({ name }) => name)));
}

/**
 * Warns of series above the limit: they are neither here nor in the metrics, and no alert uses
 * them.
 */
function seriesProblem({ name: appliance, seriesLeftOut }: ApplianceStatus): OwnProblem | undefined {
  if (seriesLeftOut === 0) return undefined;
  return {
    about: 'appliance',
    title: `Some series of ${appliance} are not shown`,
    meaning: `${plural(seriesLeftOut, 'series', 'series')} exceed the limit, and are neither here nor in the metrics.`,
    alert: 'ZlbExporterFault',
  };
}

/**
 * An interface that was seen to go down; one that is down by choice never was up while anybody
 * looked.
 */
function interfaceProblem(appliance: string, { name, state, sinceMs }: InterfaceStatus): OwnProblem | undefined {
  if (state !== 'down' || sinceMs === undefined) return undefined;
  return {
    about: 'interface',
    sinceMs,
    title: `Interface ${name} of ${appliance} is down`,
    meaning: 'Its appliance says so. Farms on its addresses may be out of reach.',
    alert: 'ZlbInterfaceDown',
  };
}

/**
 * Returns the problem of an appliance's activation. When a permanent one ends, only its support
 * ends.
 */
function activationProblem(status: ApplianceStatus, nowMs: number): OwnProblem | undefined {
  const { name: appliance, activation } = status;
  if (isDeactivated(status)) {
    return {
      about: 'activation',
      title: `${appliance} is deactivated`,
      meaning: 'Its API refuses nearly everything, so nothing else is known of it. Farms usually go on working.',
      alert: 'ZlbApplianceDeactivated',
    };
  }
  if (activation?.notAfterSeconds === undefined) return undefined;
  const { kind, notBeforeSeconds, notAfterSeconds } = activation;
  const endsAtMs = notAfterSeconds * 1_000;
  const leftMs = endsAtMs - nowMs;
  if (kind === 'permanent') {
    if (leftMs > 0) return undefined;
    return {
      about: 'activation',
      sinceMs: endsAtMs,
      title: `The support of ${appliance} has ended`,
      meaning: 'It goes on working, without updates.',
      alert: 'ZlbActivationExpirySoon',
    };
  }
  const window = expiryWindow({ notBeforeSeconds, notAfterSeconds }, nowMs);
  if (window === undefined) return undefined;
  return {
    about: 'activation',
    title: leftMs > 0 ? `The licence of ${appliance} ends in ${span(leftMs)}` : `The licence of ${appliance} has ended`,
    meaning: 'At its end it deactivates itself: its API and its web interface refuse nearly everything.',
    alert: window === 'imminent' ? 'ZlbActivationExpiryImminent' : 'ZlbActivationExpirySoon',
  };
}

/** Returns the end of the certificate of the API, which polling and the gateway depend on. */
function apiCertificateProblem({ name, apiCertificate }: ApplianceStatus, nowMs: number): OwnProblem | undefined {
  if (!apiCertificate || expiryWindow(apiCertificate, nowMs) === undefined) return undefined;
  const leftMs = apiCertificate.notAfterSeconds * 1_000 - nowMs;
  return {
    about: 'appliance',
    title: `The API certificate of ${name} ${leftMs > 0 ? `ends in ${span(leftMs)}` : 'has ended'}`,
    meaning:
      'From an authority, polling stops at its end. With a pinned fingerprint, polling stops when it is replaced: pin the new one the same day.',
    alert: 'ZlbCertificateExpirySoon',
  };
}

/** Returns true also before the activation was read, if the farms are refused with 402. */
function isDeactivated({ deactivated, activation, farms, collectors }: ApplianceStatus): boolean {
  if (deactivated || activation?.status === 'deactivated') return true;
  const reading = collectors.find(({ name }) => name === 'farms');
  return farms === undefined && reading?.failure?.reason === 'unlicensed';
}

/** Explained by something that is a problem of its own. */
const explained: readonly CollectorFailure['reason'][] = ['unlicensed', 'breaker_open', 'farms_unknown', 'stretched'];

/** Nothing came back; for other reasons something answers that may be no appliance. */
const noAnswer: readonly CollectorFailure['reason'][] = ['timeout', 'connect', 'tls', 'gateway_timeout', 'cancelled'];

/**
 * Returns the problems of an appliance's answers: there are none, it refuses the key, or some
 * readings fail.
 */
function readingProblems(status: ApplianceStatus, nowMs: number): readonly OwnProblem[] {
  const { name: appliance, up } = status;
  const failing = status.collectors.filter(({ failure, isSupported }) => failure !== undefined && isSupported);
  const refused = failing.filter(({ failure }) => failure?.reason === 'unauthorized');
  // Since it refused the key, it may have stopped answering at all.
  if (refusesKey(status)) {
    return [
      {
        about: 'appliance',
        sinceMs: status.failing?.sinceMs ?? earliest(refused),
        title: `${appliance} refuses the API key`,
        meaning: `Was the key replaced or its user disabled? ${lastRead(status, nowMs)}`,
        alert: 'ZlbApplianceUnreachable',
      },
    ];
  }
  if (up === false) return [unreachable(status, failing, nowMs)];
  const withoutFarms = farmsProblem(status, nowMs);
  const remaining = failing.filter(({ name }) => !withoutFarms || name !== 'farms');
  const forbidden = remaining.filter(({ failure }) => failure?.reason === 'forbidden');
  const others = remaining.filter(
    (each) =>
      !forbidden.includes(each) &&
      each.failure &&
      !explained.includes(each.failure.reason) &&
      !isOfHungFarm(each, status),
  );
  return [
    ...(withoutFarms ? [withoutFarms] : []),
    ...(forbidden.length > 0 ? [notAllowed(appliance, forbidden)] : []),
    ...[...Map.groupBy(others, ({ failure }) => failure?.reason)].map(([, alike]) => failed(appliance, alike)),
    ...status.collectors.flatMap(({ unreadable = [] }) => unreadable.map((each) => unreadableProblem(appliance, each))),
  ];
}

/** Returns true for reads that wait in vain for a proxy of which the page says that it hangs. */
function isOfHungFarm({ name, failure }: CollectorStatus, { farms = [] }: ApplianceStatus): boolean {
  const isLate = failure?.reason === 'timeout' || failure?.reason === 'gateway_timeout';
  return isLate && asksEachFarm(name) && farms.some(isHung);
}

/**
 * Returns the problem of an appliance that answers, and whose farms cannot be read: nothing is
 * known of its services, and no alert of a farm can fire.
 */
function farmsProblem(status: ApplianceStatus, nowMs: number): OwnProblem | undefined {
  const { name, farms, collectors } = status;
  const reading = collectors.find((each) => each.name === 'farms');
  const reason = reading?.failure?.reason;
  if (farms !== undefined && farms.length > 1 && farms.every(({ state }) => state === 'unknown'))
    return {
      about: 'appliance',
      sinceMs: reading?.failure?.sinceMs,
      title: `No farm of ${name} has a known state`,
      meaning: 'It answers and lists its farms, but says nothing about their state. Whether they serve is not known.',
      alert: 'ZlbFarmsUnknown',
    };
  // A deactivated appliance has a problem of its own; before the first run ended nothing failed.
  if (farms !== undefined || isDeactivated(status) || !reading || (reason === undefined && !reading.isStale))
    return undefined;
  const isForbidden = reason === 'forbidden';
  return {
    about: 'appliance',
    sinceMs: reading.failure?.sinceMs,
    title: isForbidden ? `The API key of ${name} may not read its farms` : `No farm of ${name} is known`,
    meaning: `It answers, but its farms cannot be read${reason ? `: ${reasonWords[reason]}` : ''}.${status.probes ? probesOf(status, nowMs) : ' Whether they serve is not known.'}${isForbidden ? ' Give the user of the key a role and a group that have its farms.' : ''}`,
    alert: 'ZlbFarmsUnknown',
  };
}

/** Names of the rows of lists: a row without its name is left out. */
const rowNames = ['farmname', 'file', 'name', 'interface', 'id'];

/** Returns the problem of values of a reply that cannot be read; all else of it is shown. */
function unreadableProblem(appliance: string, unreadable: UnreadableField): OwnProblem {
  const { endpoint, field, count, example } = unreadable;
  const isRow = rowNames.includes(field);
  const found = isRow ? `${plural(count, 'row')} without a readable ${field}` : `${plural(count, 'value')} of ${field}`;
  const shown = isRow ? 'left out' : 'shown as unknown';
  return {
    about: 'appliance',
    title: `Not all of ${endpoint} of ${appliance} can be read: ${found}`,
    meaning: `Such as ${example}. What cannot be read is ${shown}, all else is read. Report it with the product and its version.`,
    alert: 'ZlbCollectorStale',
  };
}

/** Tells what probes of the farms show, where nothing else is known of them. */
function probesOf({ probes }: ApplianceStatus, nowMs: number): string {
  if (!probes) return '';
  const { farms, reached, unanswered = [], oldestMs } = probes;
  const hanging = `${unanswered.length === 1 ? 'accepts' : 'accept'} them and ${unanswered.length === 1 ? 'does' : 'do'} not answer`;
  return ` Probes, the oldest ${ago(oldestMs, nowMs)}: ${reached} of ${plural(farms, 'farm')} ${reached === 1 ? 'accepts' : 'accept'} connections${unanswered.length > 0 ? `; ${listed(unanswered)} ${hanging}` : ''}.`;
}

function unreachable(status: ApplianceStatus, failing: readonly CollectorStatus[], nowMs: number): OwnProblem {
  const { name } = status;
  const reason =
    status.failing?.reason ??
    failing.find(({ failure }) => failure && !explained.includes(failure.reason))?.failure?.reason;
  const hasNoAnswer = reason === undefined || noAnswer.includes(reason);
  return {
    about: 'appliance',
    sinceMs: status.failing?.sinceMs ?? earliest(failing),
    title: `${name} does not answer${hasNoAnswer ? '' : ' as an appliance does'}${reason ? `: ${reasonWords[reason]}` : ''}`,
    meaning: `${lastRead(status, nowMs)}${probesOf(status, nowMs)}`,
    alert: 'ZlbApplianceUnreachable',
  };
}

/** Says how old everything is that is shown of an appliance which is not read now. */
function lastRead(status: ApplianceStatus, nowMs: number): string {
  const lastMs = lastReadMs(status);
  return lastMs === undefined
    ? 'It was not read since the exporter was started: nothing is known of it.'
    : `What is shown of it was read before, and goes when it is too old. The last good reading was ${ago(lastMs, nowMs)}.`;
}

function notAllowed(appliance: string, forbidden: readonly CollectorStatus[]): OwnProblem {
  return {
    about: 'appliance',
    sinceMs: earliest(forbidden),
    title: `The API key of ${appliance} may not read ${listed(forbidden.map(({ name }) => name))}`,
    meaning: 'Its user lacks a right for that. What it may read is shown.',
    alert: 'ZlbCollectorStale',
  };
}

/** Collectors that fail for one reason. */
function failed(appliance: string, alike: readonly CollectorStatus[]): OwnProblem {
  const names = listed(alike.map(({ name }) => name));
  const reason = alike[0]?.failure?.reason;
  const because = reason ? reasonWords[reason] : 'for an unknown reason';
  const isStale = alike.some((each) => each.isStale);
  const wasRead = alike.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const consequence = isStale
    ? 'What is too old is not shown any more.'
    : wasRead
      ? 'What is shown of it is older.'
      : 'Nothing of it was read since the exporter was started.';
  return {
    about: 'appliance',
    sinceMs: earliest(alike),
    title: `${alike.length === 1 ? 'The reading' : 'The readings'} of ${names} from ${appliance} ${alike.length === 1 ? 'fails' : 'fail'}`,
    meaning: `Because: ${because}. ${consequence}`,
    alert: 'ZlbCollectorStale',
  };
}

function earliest(collectors: readonly CollectorStatus[]): number | undefined {
  const times = collectors.map(({ failure }) => failure?.sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}
