import type { ApplianceStatus, CollectorFailure, CollectorStatus } from '../../monitor/status.ts';
import { isAnswering } from './freshness.ts';
import { listed } from './listed.ts';
import type { Problem } from './problem.ts';
import { reasonInWords } from './reasons.ts';
import { span } from './times.ts';

/** Explained by something that is a problem of its own. */
const explained: readonly CollectorFailure['reason'][] = [
  'unlicensed',
  'breaker_open',
  'farms_unknown',
  'overlap',
  'stretched',
];

/** Nothing came back; for other reasons something answers that may be no appliance. */
const noAnswer: readonly CollectorFailure['reason'][] = ['timeout', 'connect', 'tls', 'gateway_timeout', 'cancelled'];

/**
 * Returns the problems of an appliance's answers: there are none, it refuses the key, or some
 * readings fail.
 */
export function readingProblems(status: ApplianceStatus, nowMs: number): readonly Problem[] {
  const { name: appliance, up } = status;
  const failing = status.collectors.filter(({ failure, isSupported }) => failure !== undefined && isSupported);
  const refused = failing.filter(({ failure }) => failure?.reason === 'unauthorized');
  if (refused.length > 0) {
    return [
      {
        level: 'critical',
        appliance,
        sinceMs: earliest(refused),
        title: `${appliance} refuses the API key`,
        meaning: 'Nothing is read from it any more. Was the key replaced or its user disabled?',
        alert: 'ZlbAuthRejected',
      },
    ];
  }
  if (up !== undefined && !isAnswering(status)) return [unreachable(status, failing, nowMs)];
  const forbidden = failing.filter(({ failure }) => failure?.reason === 'forbidden');
  const others = failing.filter(
    (each) => !forbidden.includes(each) && each.failure && !explained.includes(each.failure.reason),
  );
  return [
    ...(forbidden.length > 0 ? [notAllowed(appliance, forbidden)] : []),
    ...[...Map.groupBy(others, ({ failure }) => failure?.reason)].map(([, alike]) => failed(appliance, alike)),
  ];
}

function unreachable(
  { name, up, collectors }: ApplianceStatus,
  failing: readonly CollectorStatus[],
  nowMs: number,
): Problem {
  const reason = failing.find(({ failure }) => failure && !explained.includes(failure.reason))?.failure?.reason;
  const successes = collectors.map(({ lastSuccessMs }) => lastSuccessMs).filter((each) => each !== undefined);
  const isSilent = reason === undefined || noAnswer.includes(reason);
  return {
    // The last readings may still be true; the alert waits until they are stale.
    level: up ? 'warning' : 'critical',
    appliance: name,
    sinceMs: earliest(failing),
    title: `${name} ${up ? 'has stopped answering' : 'does not answer'}${isSilent ? '' : ' as an appliance does'}${reason ? `: ${reasonInWords(reason)}` : ''}`,
    meaning:
      successes.length === 0
        ? 'It was not read since the exporter was started: nothing is known of it.'
        : `What is shown of it was read before, and goes when it is too old. The last good answer came ${span(nowMs - Math.max(...successes))} ago.`,
    alert: 'ZlbApplianceUnreachable',
  };
}

function notAllowed(appliance: string, forbidden: readonly CollectorStatus[]): Problem {
  return {
    level: 'warning',
    appliance,
    sinceMs: earliest(forbidden),
    title: `The API key of ${appliance} may not read ${listed(forbidden.map(({ name }) => name))}`,
    meaning: 'Its user lacks a right for that; all else is read.',
    alert: 'ZlbPermissionMissing',
  };
}

/** Collectors that fail for one reason. */
function failed(appliance: string, alike: readonly CollectorStatus[]): Problem {
  const names = listed(alike.map(({ name }) => name));
  const unwatched = alike.find(({ name, isStale }) => isStale && (name === 'farms' || name === 'certificates'))?.name;
  const reason = alike[0]?.failure?.reason;
  const because = reason ? reasonInWords(reason) : 'for an unknown reason';
  const isStale = alike.some((each) => each.isStale);
  const wasRead = alike.some(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const consequence = isStale
    ? 'What is too old is not shown any more.'
    : wasRead
      ? 'What is shown of it is older.'
      : 'Nothing of it was read since the exporter was started.';
  return {
    level: unwatched === undefined ? 'warning' : 'critical',
    appliance,
    sinceMs: earliest(alike),
    title: `${alike.length === 1 ? 'The reading' : 'The readings'} of ${names} from ${appliance} ${alike.length === 1 ? 'fails' : 'fail'}`,
    meaning: `Because: ${because}. ${consequence}`,
    alert:
      unwatched === 'farms'
        ? 'ZlbFarmsUnwatched'
        : unwatched === 'certificates'
          ? 'ZlbCertificatesUnwatched'
          : isStale
            ? 'ZlbCollectorStale'
            : 'ZlbCollectorErrors',
  };
}

function earliest(collectors: readonly CollectorStatus[]): number | undefined {
  const times = collectors.map(({ failure }) => failure?.sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}
