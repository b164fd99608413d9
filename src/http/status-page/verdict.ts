import { isAnswering } from './answering.ts';
import { type Counts, sumOf } from './counts.ts';
import type { ShardInfo } from './exporter-panel.ts';
import type { Freshness } from './freshness.ts';
import { html, type Markup } from './html.ts';
import { counted } from './listed.ts';
import type { Problem } from './problem.ts';
import { badness, type Level, levelOf, sign, wordOf } from './sign.ts';
import type { Finding } from './survey.ts';

/** All in one sentence, and what it rests on. */
export interface Verdict {
  readonly level: Level;
  readonly sentence: string;
  readonly basis: string;
}

/** Alerts that nothing of the page stands for. */
const elsewhere = 'Clusters, VPNs, load, clocks and what vanished are for the alerts.';

/** "Nothing is wrong" is said only where everything was read and is fresh. */
export function verdictOn(findings: readonly Finding[], problems: readonly Problem[], share?: ShardInfo): Verdict {
  const basis = [basisOf(findings, share), ...(share ? [shareInWords(share)] : [])].join(' ');
  const critical = problems.filter(({ level }) => level === 'critical').length;
  if (problems.length > 0) {
    const sentence =
      critical === 0
        ? `${counted(problems.length, 'thing needs', 'things need')} attention`
        : critical === problems.length
          ? `${counted(critical, 'thing is', 'things are')} wrong`
          : `${counted(critical, 'thing is', 'things are')} wrong, ${(problems.length - critical).toLocaleString('en')} more ${problems.length - critical === 1 ? 'needs' : 'need'} attention`;
    return {
      level: critical > 0 ? 'critical' : 'warning',
      sentence,
      basis: [basis, ...gapsInWords(findings)].join(' '),
    };
  }
  if (findings.length === 0) return { level: 'unknown', sentence: 'Nothing is watched', basis };
  const gaps = gapsInWords(findings);
  if (gaps.length > 0)
    return {
      level: 'unknown',
      sentence: 'Nothing is known to be wrong, but not all is known',
      basis: [...gaps, basis].join(' '),
    };
  return {
    level: 'well',
    sentence: 'Nothing is wrong',
    basis: `${basis} Everything was read and is fresh. ${elsewhere}`,
  };
}

/** Only the count is told again by screen readers when it changes. */
export function verdictHeading({ level, sentence, basis }: Verdict): Markup {
  return html`<div class="verdict ${level}">${sign(level)}<div>
<h1 id="verdict" aria-live="polite" aria-atomic="true">${sentence}</h1>
<p>${basis}</p></div></div>`;
}

function shareInWords({ index, count, elsewhere: { size } }: ShardInfo): string {
  return `This is shard ${index}/${count}: ${counted(size, 'appliance is', 'appliances are')} watched by the others.`;
}

function basisOf(findings: readonly Finding[], share: ShardInfo | undefined): string {
  if (findings.length === 0) return share ? 'No appliance falls to this shard.' : 'No appliance is configured here.';
  const answering = findings.filter(({ status }) => isAnswering(status)).length;
  const appliances =
    findings.length === 1
      ? `The appliance ${answering === 1 ? 'answers' : 'gives no answer'}`
      : `${answering.toLocaleString('en')} of ${counted(findings.length, 'appliance')} answer`;
  return `${appliances}; ${farmsInWords(sumOf(findings.map(({ farmStates }) => farmStates)))}.`;
}

/** How many farms are in which state, in the words of the appliances. */
function farmsInWords(states: Counts<string>): string {
  const count = [...states.values()].reduce((sum, each) => sum + each, 0);
  const [best, ...others] = [...states].toSorted(([one], [other]) => badness(levelOf(other)) - badness(levelOf(one)));
  if (best === undefined) return 'no farm is known';
  if (others.length === 0) return `${counted(count, 'farm')}, ${count === 1 ? '' : 'all '}${wordOf(best[0])}`;
  const told = [best, ...others].map(([state, those]) => `${those.toLocaleString('en')} ${wordOf(state)}`);
  return `${counted(count, 'farm')}: ${told.join(', ')}`;
}

const waysNotToBeFresh: readonly (readonly [Freshness, string])[] = [
  ['failing', 'failing'],
  ['stale', 'too old to be shown'],
  ['late', 'late'],
  ['waiting', 'not read yet'],
];

function inWhichWay(findings: readonly Finding[]): string {
  const counts = sumOf(findings.map(({ readings }) => readings));
  return waysNotToBeFresh
    .flatMap(([freshness, words]) =>
      counts.has(freshness) ? `${counts.get(freshness)?.toLocaleString('en')} ${words}` : [],
    )
    .join(', ');
}

function gapsInWords(findings: readonly Finding[]): readonly string[] {
  const sum = (of: (finding: Finding) => number): number => findings.reduce((total, each) => total + of(each), 0);
  const unread = sum(({ gaps }) => gaps.unread);
  const lists = sum(({ gaps }) => gaps.lists);
  const readings = sum(({ gaps }) => gaps.readings);
  const farms = sum(({ gaps }) => gaps.farms);
  return [
    unread > 0 && `${counted(unread, 'appliance has', 'appliances have')} not been read yet.`,
    lists > 0 && `The farms of ${counted(lists, 'appliance')} are not known.`,
    readings > 0 && `${counted(readings, 'reading is', 'readings are')} not fresh: ${inWhichWay(findings)}.`,
    farms > 0 && `The backends of ${counted(farms, 'farm')} are not known.`,
  ].filter((words) => words !== false);
}
