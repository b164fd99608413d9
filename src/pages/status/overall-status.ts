import { stateLabel } from '../../lib/states.ts';
import { plural } from '../../lib/text.ts';
import { type ApplianceHealth, type Counts, type Gaps, sumCounts } from '../../state/health.ts';
import { type Level, levelOfState, levelRank } from '../../state/level.ts';
import { levelIcon } from '../marks.ts';
import { type Freshness, isAnswering, lastReadMs } from '../../state/freshness.ts';
import { html, type Markup } from '../html.ts';
import { utcTime } from '../times.ts';
import type { Problem } from '../../state/problem.ts';

/** The shard of this process, and the appliances of the others. */
export interface ShardInfo {
  readonly index: number;
  readonly count: number;
  readonly otherShards: { readonly size: number };
}

/** The overall status as one sentence, and what it is based on. */
export interface OverallStatus {
  readonly level: Level;
  readonly sentence: string;
  readonly basis: string;
}

const onlyInAlerts = 'Only alerts cover clusters, VPNs, load, clocks and what vanished.';

/**
 * Returns the overall status. It says "Nothing is wrong" only if everything was read and is fresh.
 */
export function overallStatusOf(
  appliances: readonly ApplianceHealth[],
  problems: readonly Problem[],
  shard?: ShardInfo,
): OverallStatus {
  const basis = [basisText(appliances, shard), ...(shard ? [shardText(shard)] : [])].join(' ');
  const critical = problems.filter(({ level }) => level === 'critical').length;
  if (problems.length > 0) {
    const warnings = problems.length - critical;
    const counts = [
      critical > 0 && `${critical.toLocaleString('en')} critical`,
      warnings > 0 && plural(warnings, 'warning'),
    ].filter(Boolean);
    return {
      level: critical > 0 ? 'critical' : 'warning',
      sentence: `${plural(problems.length, 'thing is', 'things are')} wrong: ${counts.join(', ')}`,
      basis: [basis, ...gapTexts(appliances)].join(' '),
    };
  }
  if (appliances.length === 0) return { level: 'unknown', sentence: 'Nothing is watched', basis };
  const gaps = gapTexts(appliances);
  if (gaps.length > 0)
    return {
      level: 'unknown',
      sentence: 'Nothing is known to be wrong, but not all is known',
      basis: [...gaps, basis].join(' '),
    };
  return {
    level: 'well',
    sentence: 'Nothing is wrong',
    basis: `${basis} Everything was read and is fresh. ${onlyInAlerts}`,
  };
}

/** Renders the heading; screen readers announce only a changed sentence. */
export function overallStatusHeading({ level, sentence, basis }: OverallStatus): Markup {
  return html`<div class="overall-status ${level}">${levelIcon(level)}<div>
<h1 id="overall-status" aria-live="polite" aria-atomic="true">${sentence}</h1>
<p>${basis}</p></div></div>`;
}

function shardText({ index, count, otherShards: { size } }: ShardInfo): string {
  return `This is shard ${index}/${count}: ${plural(size, 'appliance is', 'appliances are')} watched by the others.`;
}

function basisText(appliances: readonly ApplianceHealth[], shard: ShardInfo | undefined): string {
  if (appliances.length === 0)
    return shard ? 'No appliance is assigned to this shard.' : 'No appliance is configured here.';
  const answering = appliances.filter(({ status }) => isAnswering(status));
  const away = appliances.filter(({ status }) => !isAnswering(status));
  const isOnly = appliances.length === 1;
  const answers = isOnly
    ? `The appliance ${away.length === 0 ? 'answers' : 'does not answer'}`
    : `${answering.length.toLocaleString('en')} of ${plural(appliances.length, 'appliance')} answer`;
  const farms =
    answering.length > 0
      ? farmStatesText(sumCounts(answering.map(({ farmStates }) => farmStates)))
      : `how ${isOnly ? 'its' : 'their'} farms are is not known`;
  return `${answers}; ${farms}.${lastReadText(away, answering.length > 0)}`;
}

/** Describes earlier readings of appliances that do not answer; empty without any. */
function lastReadText(away: readonly ApplianceHealth[], areOthers: boolean): string {
  const farms = sumCounts(away.map(({ farmStates }) => farmStates));
  if (farms.size === 0) return '';
  const times = away.flatMap(({ status }) => lastReadMs(status) ?? []);
  const newest = times.length === 0 ? undefined : utcTime(Math.max(...times));
  const readAt = newest === undefined ? 'before' : away.length === 1 ? newest : `${newest} or earlier`;
  const whose = away.length === 1 ? 'other' : `${away.length.toLocaleString('en')} others`;
  return ` Last read ${areOthers ? `of the ${whose} ` : ''}${readAt}: ${farmStatesText(farms)}.`;
}

/** Returns the number of farms by state, with the words of the appliances. */
function farmStatesText(states: Counts<string>): string {
  const count = [...states.values()].reduce((sum, each) => sum + each, 0);
  const [best, ...others] = [...states].toSorted(
    ([one], [other]) => levelRank(levelOfState('farm', other)) - levelRank(levelOfState('farm', one)),
  );
  if (best === undefined) return 'no farm is known';
  if (others.length === 0) return `${plural(count, 'farm')}, ${count === 1 ? '' : 'all '}${stateLabel(best[0])}`;
  const counts = [best, ...others].map(([state, those]) => `${those.toLocaleString('en')} ${stateLabel(state)}`);
  return `${plural(count, 'farm')}: ${counts.join(', ')}`;
}

/** The words for readings that are not fresh, the most severe first. */
const freshnessWords: readonly (readonly [Freshness, string])[] = [
  ['failing', 'failing'],
  ['stale', 'too old to be shown'],
  ['late', 'late'],
  ['waiting', 'not read yet'],
];

/** Returns the number of readings that are not fresh, by kind; `''` for none. */
export function freshnessText(appliances: readonly ApplianceHealth[]): string {
  const counts = sumCounts(appliances.map(({ freshness }) => freshness));
  return freshnessWords
    .flatMap(([freshness, words]) =>
      counts.has(freshness) ? `${counts.get(freshness)?.toLocaleString('en')} ${words}` : [],
    )
    .join(', ');
}

function gapTexts(appliances: readonly ApplianceHealth[]): readonly string[] {
  const sum = (gap: keyof Gaps): number => appliances.reduce((total, { gaps }) => total + gaps[gap], 0);
  const [unread, lists, notFresh, farms] = [sum('unread'), sum('lists'), sum('notFresh'), sum('farms')];
  const [probes, certificates] = [sum('probes'), sum('certificates')];
  return [
    unread > 0 && `${plural(unread, 'appliance has', 'appliances have')} not been read yet.`,
    lists > 0 && `The farms of ${plural(lists, 'appliance')} are not known.`,
    notFresh > 0 && `${plural(notFresh, 'reading is', 'readings are')} not fresh: ${freshnessText(appliances)}.`,
    farms > 0 && `The backends of ${plural(farms, 'farm')} are not known.`,
    probes > 0 && `Whether ${plural(probes, 'L4 farm serves', 'L4 farms serve')} is not known.`,
    certificates > 0 &&
      `Whether a farm uses ${plural(certificates, 'certificate that ends soon', 'certificates that end soon')} is not known.`,
  ].filter((words) => words !== false);
}
