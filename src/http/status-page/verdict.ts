import { html, type Markup } from './html.ts';
import { counted } from './listed.ts';
import type { Problem } from './problem.ts';
import { type Level, sign } from './sign.ts';
import type { Finding } from './survey.ts';

/** All in one sentence, and what it rests on. */
export interface Verdict {
  readonly level: Level;
  readonly sentence: string;
  readonly basis: string;
}

/** "Nothing is wrong" is said only where everything was read and is fresh. */
export function verdictOn(findings: readonly Finding[], problems: readonly Problem[]): Verdict {
  const basis = basisOf(findings);
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
  if (findings.length === 0)
    return { level: 'unknown', sentence: 'Nothing is watched', basis: 'No appliance is configured here.' };
  const gaps = gapsInWords(findings);
  if (gaps.length > 0)
    return {
      level: 'unknown',
      sentence: 'Nothing is known to be wrong, but not all is known',
      basis: [...gaps, basis].join(' '),
    };
  return { level: 'well', sentence: 'Nothing is wrong', basis: `${basis} Everything was read and is fresh.` };
}

/** Only the count is told again by screen readers when it changes. */
export function verdictHeading({ level, sentence, basis }: Verdict): Markup {
  return html`<div class="verdict ${level}">${sign(level)}<div>
<h1 id="verdict" aria-live="polite" aria-atomic="true">${sentence}</h1>
<p>${basis}</p></div></div>`;
}

function basisOf(findings: readonly Finding[]): string {
  const answering = findings.filter(({ status }) => status.up === true).length;
  const farms = findings.flatMap(({ status }) => status.farms ?? []);
  const up = farms.filter(({ state }) => state === 'up').length;
  const appliances =
    findings.length === 1
      ? answering === 1
        ? 'The appliance answers'
        : 'The appliance gives no answer'
      : `${answering.toLocaleString('en')} of ${counted(findings.length, 'appliance')} answer`;
  return `${appliances}; ${farms.length === 0 ? 'no farm is known' : `${up.toLocaleString('en')} of ${counted(farms.length, 'farm')} ${farms.length === 1 ? 'is' : 'are'} up`}.`;
}

function gapsInWords(findings: readonly Finding[]): readonly string[] {
  const sum = (of: (finding: Finding) => number): number => findings.reduce((total, each) => total + of(each), 0);
  const unread = sum(({ gaps }) => gaps.unread);
  const readings = sum(({ gaps }) => gaps.readings);
  const farms = sum(({ gaps }) => gaps.farms);
  return [
    unread > 0 && `${counted(unread, 'appliance has', 'appliances have')} not been read yet.`,
    readings > 0 && `${counted(readings, 'reading is', 'readings are')} late, failing, withheld or still to come.`,
    farms > 0 && `The backends of ${counted(farms, 'farm')} are not known.`,
  ].filter((words) => words !== false);
}
