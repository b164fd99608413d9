import { isAnswering } from '../../state/freshness.ts';
import { compareNames } from '../../lib/text.ts';
import { type ApplianceHealth, sumCounts } from '../../state/health.ts';
import { type Level, levelRank, worstLevel } from '../../state/level.ts';
import { stateMark } from '../marks.ts';
import { farmsUpIn } from './appliance-table.ts';
import { html, type Markup } from '../html.ts';
import { linkList, table } from './section.ts';
import { linkTo } from './view.ts';

/** Appliances with the same value of a label, or the same edition. */
export interface Group {
  readonly by: string;
  /** Empty for appliances without a value. */
  readonly value: string;
  /** The worst first. */
  readonly appliances: readonly ApplianceHealth[];
}

/** Divides by edition; the configuration reserves this name, so it is never a label. */
const edition = 'edition';

/**
 * Returns the labels that divide the appliances into groups, in the order of the configuration, and
 * the edition. A label with another value for each appliance is left out.
 */
export function dividersOf(appliances: readonly ApplianceHealth[]): readonly string[] {
  const labels = new Set(appliances.flatMap(({ status }) => Object.keys(status.labels)));
  return [...labels, edition].filter((by) => {
    const { size } = new Set(appliances.map((health) => groupValue(health, by)));
    return size > 1 && size < appliances.length;
  });
}

/** Returns the groups, the worst first, then by name. */
export function groupsBy(by: string, appliances: readonly ApplianceHealth[]): readonly Group[] {
  const byValue = Map.groupBy(appliances, (health) => groupValue(health, by));
  return [...byValue]
    .map(([value, members]) => ({ by, value, appliances: sortedAppliances(members) }))
    .toSorted(
      (one, other) => levelRank(groupLevel(one)) - levelRank(groupLevel(other)) || compareNames(one.value, other.value),
    );
}

/** Sorts the worst first, then in the order given. */
export function sortedAppliances(appliances: readonly ApplianceHealth[]): readonly ApplianceHealth[] {
  return appliances.toSorted(
    (one, other) => levelRank(one.level) - levelRank(other.level) || other.problems.length - one.problems.length,
  );
}

function groupValue({ status }: ApplianceHealth, by: string): string {
  return (by === edition ? status.edition : status.labels[by]) ?? '';
}

function groupLevel({ appliances }: Group): Level {
  return worstLevel(appliances.map(({ level }) => level));
}

export function groupName({ by, value }: Pick<Group, 'by' | 'value'>): Markup {
  return html`<bdi>${value || `no ${by} known`}</bdi>`;
}

/** Renders a row for each group; each appliance counts with its worst level. */
export function groupTable(groups: readonly Group[]): Markup {
  return table('groups', [html`<bdi>${groups[0]?.by}</bdi>`, 'Appliances', 'Not well', 'Farms up'], groups, groupRow);
}

function groupRow(group: Group): Markup {
  const { by, value, appliances } = group;
  const counts = (['critical', 'warning', 'unknown', 'well'] as const)
    .map((level) => ({ level, count: appliances.filter((each) => each.level === level).length }))
    .filter(({ count }) => count > 0);
  const answering = appliances.filter(({ status }) => isAnswering(status));
  const isPartial = answering.length < appliances.length || answering.some(({ status }) => status.farms === undefined);
  const unwell = appliances.filter(({ level }) => level !== 'well').map(({ status }) => status.name);
  return html`<tr data-key="${value}"><th scope="row"><a href="${linkTo({ kind: 'group', by, group: value })}">${groupName(group)}</a></th>
<td data-label="Appliances"><span>${counts.map(({ level, count }) => html`${stateMark(level, `${count.toLocaleString('en')} ${level}`)} `)}</span></td>
<td data-label="Not well"><span>${unwell.length === 0 ? html`<span class="faint">none</span>` : linkList(unwell, (appliance) => ({ kind: 'appliance', appliance }))}</span></td>
<td data-label="Farms up">${farmsUpIn(sumCounts(answering.map(({ farmStates }) => farmStates)))}${isPartial && html` <small>not all known</small>`}</td></tr>`;
}

/** Renders links to the groups by other labels. */
export function dividerLinks(dividers: readonly string[]): Markup | false {
  if (dividers.length === 0) return false;
  return html`<p class="more">${dividers.map((by) => html`<a href="${linkTo({ kind: 'groups', by })}">by <bdi>${by}</bdi></a> `)}</p>`;
}
