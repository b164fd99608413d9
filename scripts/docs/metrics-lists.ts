import { adminMetricFamilies } from '../../src/admin/calls/admin-metrics.ts';
import { familiesByPart } from '../../src/app/appliance-families.ts';
import { vipCollector } from '../../src/collectors/vip.ts';
import { collectors } from '../../src/collectors/registry.ts';
import type { Family } from '../../src/metrics/family.ts';
import { isStateSet } from '../families.ts';
import { markdownList } from './markdown.ts';

const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Returns the lists of docs/metrics.md: every family, by the collector that feeds it. */
export function metricsLists(): Readonly<Record<string, string>> {
  const known = new Set<Family>();
  const ofCollectors = collectors.map(({ name, enabled, families: written }) => {
    const families = written.map(({ family }) => family);
    const own = families.filter((family) => !known.has(family));
    for (const family of own) known.add(family);
    const shared = families.filter((family) => !own.includes(family)).map(({ name: shared }) => `\`${shared}\``);
    return [
      `## ${name}`,
      ...(enabled ? [] : ['Off by default.']),
      ...(name === vipCollector.name
        ? ['By default of L4 farms alone ([configuration](configuration.md#collectors)).']
        : []),
      ...(shared.length > 0 ? [`It also feeds ${shared.join(' and ')}.`] : []),
      list(own),
    ].join('\n\n');
  });
  return {
    collectors: ofCollectors.join('\n\n'),
    requests: list(familiesByPart.requestLog),
    history: list(familiesByPart.history),
    appliance_state: list(familiesByPart.scheduler),
    gateway: adminList(),
  };
}

function adminList(): string {
  return markdownList(
    Object.values(adminMetricFamilies).map(
      ({ name, help, ...rest }) =>
        `${withLabels(name, 'labelNames' in rest ? rest.labelNames : [])}: ${withoutSource(help)}`,
    ),
  );
}

function list(families: readonly Family[]): string {
  return markdownList(
    families.map((family) => {
      const set = isStateSet(family) ? family : undefined;
      const name = withLabels(family.name, [...family.labels, ...(set ? [set.stateLabel] : [])]);
      const states = set ? ` \`${set.stateLabel}\` is ${orList.format(set.states)}.` : '';
      const marks = [...(family.isDetail ? ['detail'] : []), ...(family.type === 'histogram' ? ['histogram'] : [])];
      return `${name}${marks.map((mark) => ` (*${mark}*)`).join('')}: ${withoutSource(family.help)}${states}`;
    }),
  );
}

function withLabels(name: string, labels: readonly string[]): string {
  return labels.length === 0 ? `\`${name}\`` : `\`${name}{${labels.join()}}\``;
}

/** Removes the source in brackets, which `/metrics` has. */
function withoutSource(help: string): string {
  return help.replace(/ \([^()]+\)\.$/, '.');
}
