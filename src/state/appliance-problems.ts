import type { UnreadableField } from '../appliance/client.ts';
import { plural, joinFirst } from '../lib/text.ts';
import { ago, span } from '../lib/time.ts';
import {
  type ApplianceStatus,
  type CollectorFailure,
  type CollectorStatus,
  type FarmStatus,
  type InterfaceStatus,
  isSilentFarm,
} from './status.ts';
import { certificateProblem } from './certificate-problems.ts';
import { farmProblems, isUnread } from './farm-problems.ts';
import { requestLogProblems } from './request-log-problems.ts';
import { compareProblems, type ProblemDraft, type Problem, withLevel } from './problem.ts';
import { expiryWindow } from './alert-thresholds.ts';
import { asksFarmByFarm, isAnswering, lastReadMs, reasonWords, refusesKey } from './freshness.ts';

/**
 * Returns all problems of an appliance and its objects, and what is not known of them, the worst
 * first. The status page, /api/status and the plug-in show this one list.
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
  const drafts = [
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
  return drafts
    .flatMap((draft) => (draft ? { appliance, ...withLevel(withLastReadTime(draft, status, nowMs)) } : []))
    .toSorted(compareProblems);
}

/** Problems that an appliance itself reports; probes of farms go on while it does not answer. */
const reportedByAppliance: readonly ProblemDraft['alert'][] = [
  'ZlbFarmDown',
  'ZlbFarmNoBackends',
  'ZlbFarmNeedsRestart',
  'ZlbBackendDown',
  'ZlbInterfaceDown',
];

/** Adds the age of what the appliance reported, while it does not answer. */
function withLastReadTime(draft: ProblemDraft, status: ApplianceStatus, nowMs: number): ProblemDraft {
  if (isAnswering(status) || !reportedByAppliance.includes(draft.alert)) return draft;
  const lastMs = lastReadMs(status);
  return lastMs === undefined ? draft : { ...draft, meaning: `${draft.meaning} Last read ${ago(lastMs, nowMs)}.` };
}

/** Returns one problem for all farms whose backends were not read yet in the first run. */
function firstReadingProblem({ farms = [], collectors }: ApplianceStatus): ProblemDraft | undefined {
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

/** Returns the L4 farms, if the start of an HTTP farm calls their daemon (docs/api.md §4.8). */
function l4FarmsReached(farms: readonly FarmStatus[]): readonly string[] {
  if (!farms.some(({ proxy }) => proxy === 'zproxy')) return [];
  return farms.filter(({ profile }) => profile === 'l4xnat').map(({ name }) => name);
}

/**
 * Returns the L4 farms that went down at the same reading as another one. Where nobody saw when, as
 * after a start, all L4 farms of the appliance must be down.
 */
function l4FarmsDownTogether(farms: readonly FarmStatus[]): ReadonlySet<string> {
  const l4 = farms.filter(({ profile }) => profile === 'l4xnat');
  const down = l4.filter(({ state }) => state === 'down');
  const together = [...Map.groupBy(down, ({ sinceMs }) => sinceMs)].filter(
    ([sinceMs, { length }]) => length > 1 && (sinceMs !== undefined || length === l4.length),
  );
  return new Set(together.flatMap(([, each]) => each.map(({ name }) => name)));
}

function seriesProblem({ name: appliance, seriesLeftOut }: ApplianceStatus): ProblemDraft | undefined {
  if (seriesLeftOut === 0) return undefined;
  return {
    about: 'appliance',
    title: `Some series of ${appliance} are not shown`,
    meaning: `${plural(seriesLeftOut, 'series', 'series')} exceed the limit, and are neither here nor in the metrics.`,
    alert: 'ZlbExporterFault',
  };
}

/** Returns an interface that was seen to go down; one that never was up may be down by choice. */
function interfaceProblem(appliance: string, { name, state, sinceMs }: InterfaceStatus): ProblemDraft | undefined {
  if (state !== 'down' || sinceMs === undefined) return undefined;
  return {
    about: 'interface',
    sinceMs,
    title: `Interface ${name} of ${appliance} is down`,
    meaning: 'Its appliance says so. Farms on its addresses may be out of reach.',
    alert: 'ZlbInterfaceDown',
  };
}

/** Returns the problem of an activation. When a permanent one ends, only the support ends. */
function activationProblem(status: ApplianceStatus, nowMs: number): ProblemDraft | undefined {
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

/** Returns the expiry of the API's certificate, on which polling and the gateway depend. */
function apiCertificateProblem({ name, apiCertificate }: ApplianceStatus, nowMs: number): ProblemDraft | undefined {
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

/** Returns true also before the activation was read, if the list of farms is refused with 402. */
function isDeactivated({ deactivated, activation, farms, collectors }: ApplianceStatus): boolean {
  if (deactivated || activation?.status === 'deactivated') return true;
  const reading = collectors.find(({ name }) => name === 'farms');
  return farms === undefined && reading?.failure?.reason === 'unlicensed';
}

/** Reasons that another problem explains. */
const explainedElsewhere: readonly CollectorFailure['reason'][] = [
  'unlicensed',
  'breaker_open',
  'farms_unknown',
  'stretched',
];

/** Reasons without any response; with others, something responds that may not be an appliance. */
const withoutResponse: readonly CollectorFailure['reason'][] = [
  'timeout',
  'connect',
  'tls',
  'gateway_timeout',
  'cancelled',
];

/** Returns the problems of readings: the appliance does not answer, refuses the key, or some fail. */
function readingProblems(status: ApplianceStatus, nowMs: number): readonly ProblemDraft[] {
  const { name: appliance, up } = status;
  const failing = status.collectors.filter(({ failure, isSupported }) => failure !== undefined && isSupported);
  const refused = failing.filter(({ failure }) => failure?.reason === 'unauthorized');
  // Comes first: it may have stopped answering after it refused the key.
  if (refusesKey(status)) {
    return [
      {
        about: 'appliance',
        sinceMs: status.failing?.sinceMs ?? earliestFailureMs(refused),
        title: `${appliance} refuses the API key`,
        meaning: `Was the key replaced or its user disabled? ${lastReadText(status, nowMs)}`,
        alert: 'ZlbApplianceUnreachable',
      },
    ];
  }
  if (up === false) return [unreachableProblem(status, failing, nowMs)];
  const withoutFarms = farmsProblem(status, nowMs);
  const remaining = failing.filter(({ name }) => !withoutFarms || name !== 'farms');
  const forbidden = remaining.filter(({ failure }) => failure?.reason === 'forbidden');
  const others = remaining.filter(
    (each) =>
      !forbidden.includes(each) &&
      each.failure &&
      !explainedElsewhere.includes(each.failure.reason) &&
      !isOfHungFarm(each, status),
  );
  return [
    ...(withoutFarms ? [withoutFarms] : []),
    ...(forbidden.length > 0 ? [forbiddenProblem(appliance, forbidden)] : []),
    ...[...Map.groupBy(others, ({ failure }) => failure?.reason)].map(([, alike]) =>
      failedReadingsProblem(appliance, alike),
    ),
    ...status.collectors.flatMap(({ unreadable = [] }) => unreadable.map((each) => unreadableProblem(appliance, each))),
  ];
}

/** Returns true for a timeout of a hung proxy, which is a problem of its farm. */
function isOfHungFarm({ name, failure }: CollectorStatus, { farms = [] }: ApplianceStatus): boolean {
  const isLate = failure?.reason === 'timeout' || failure?.reason === 'gateway_timeout';
  return isLate && asksFarmByFarm(name) && farms.some(isSilentFarm);
}

/** Returns the problem that an appliance answers, but its farms cannot be read: no farm alert can fire. */
function farmsProblem(status: ApplianceStatus, nowMs: number): ProblemDraft | undefined {
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
  // A deactivated appliance is another problem; before the end of the first run, nothing failed.
  if (farms !== undefined || isDeactivated(status) || !reading || (reason === undefined && !reading.isStale))
    return undefined;
  const isForbidden = reason === 'forbidden';
  return {
    about: 'appliance',
    sinceMs: reading.failure?.sinceMs,
    title: isForbidden ? `The API key of ${name} may not read its farms` : `No farm of ${name} is known`,
    meaning: `It answers, but its farms cannot be read${reason ? `: ${reasonWords[reason]}` : ''}.${status.probes ? probesText(status, nowMs) : ' Whether they serve is not known.'}${isForbidden ? ' Give the user of the key a role and a group that have its farms.' : ''}`,
    alert: 'ZlbFarmsUnknown',
  };
}

/** The fields with the name of a row; a row without its name is left out. */
const rowNames = ['farmname', 'file', 'name', 'interface', 'id'];

/** Returns the problem that some values of a reply cannot be read. */
function unreadableProblem(appliance: string, unreadable: UnreadableField): ProblemDraft {
  const { endpoint, field, count, example } = unreadable;
  const isRow = rowNames.includes(field);
  const what = isRow ? `${plural(count, 'row')} without a readable ${field}` : `${plural(count, 'value')} of ${field}`;
  const shown = isRow ? 'left out' : 'shown as unknown';
  return {
    about: 'appliance',
    title: `Not all of ${endpoint} of ${appliance} can be read: ${what}`,
    meaning: `Such as ${example}. It is ${shown}; everything else is read. Please report it with the product and its version.`,
    alert: 'ZlbCollectorStale',
  };
}

/** Describes the probes while nothing else is known of the farms. */
function probesText({ probes }: ApplianceStatus, nowMs: number): string {
  if (!probes) return '';
  const { farms, reached, unanswered = [], oldestMs } = probes;
  const hanging = `${unanswered.length === 1 ? 'accepts' : 'accept'} them and ${unanswered.length === 1 ? 'does' : 'do'} not answer`;
  return ` Probes, the oldest ${ago(oldestMs, nowMs)}: ${reached} of ${plural(farms, 'farm')} ${reached === 1 ? 'accepts' : 'accept'} connections${unanswered.length > 0 ? `; ${joinFirst(unanswered)} ${hanging}` : ''}.`;
}

function unreachableProblem(status: ApplianceStatus, failing: readonly CollectorStatus[], nowMs: number): ProblemDraft {
  const { name } = status;
  const reason =
    status.failing?.reason ??
    failing.find(({ failure }) => failure && !explainedElsewhere.includes(failure.reason))?.failure?.reason;
  const hasNoAnswer = reason === undefined || withoutResponse.includes(reason);
  return {
    about: 'appliance',
    sinceMs: status.failing?.sinceMs ?? earliestFailureMs(failing),
    title: `${name} does not answer${hasNoAnswer ? '' : ' as an appliance does'}${reason ? `: ${reasonWords[reason]}` : ''}`,
    meaning: `${lastReadText(status, nowMs)}${probesText(status, nowMs)}`,
    alert: 'ZlbApplianceUnreachable',
  };
}

/** Says how old the readings are of an appliance that cannot be read now. */
function lastReadText(status: ApplianceStatus, nowMs: number): string {
  const lastMs = lastReadMs(status);
  return lastMs === undefined
    ? 'It has not been read since the exporter was started: nothing is known of it.'
    : `What is shown of it was read before, and goes when it is too old. The last good reading was ${ago(lastMs, nowMs)}.`;
}

function forbiddenProblem(appliance: string, forbidden: readonly CollectorStatus[]): ProblemDraft {
  return {
    about: 'appliance',
    sinceMs: earliestFailureMs(forbidden),
    title: `The API key of ${appliance} may not read ${joinFirst(forbidden.map(({ name }) => name))}`,
    meaning: 'Its user lacks the permission. What it may read is shown.',
    alert: 'ZlbCollectorStale',
  };
}

/** Returns one problem for all collectors that fail for the same reason. */
function failedReadingsProblem(appliance: string, alike: readonly CollectorStatus[]): ProblemDraft {
  const names = joinFirst(alike.map(({ name }) => name));
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
    sinceMs: earliestFailureMs(alike),
    title: `${alike.length === 1 ? 'The reading' : 'The readings'} of ${names} from ${appliance} ${alike.length === 1 ? 'fails' : 'fail'}`,
    meaning: `Because: ${because}. ${consequence}`,
    alert: 'ZlbCollectorStale',
  };
}

function earliestFailureMs(collectors: readonly CollectorStatus[]): number | undefined {
  const times = collectors.map(({ failure }) => failure?.sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}
