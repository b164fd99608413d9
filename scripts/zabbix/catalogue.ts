import { families, isStateSet } from '../families.ts';

/** Families of the exporter itself, which have no label `appliance`. */
const exporterFamilies: Readonly<Record<string, string>> = {
  zlb_exporter_build_info: 'The running release.',
  zlb_exporter_config_last_reload_successful: '1 if the last reload of the configuration was applied.',
};

/** Labels that select the series of an item, and the values that they must have. */
export type Labels = Readonly<Record<string, string>>;

/** Returns the help text of a metric; throws for one that the exporter does not have. */
export function helpOf(metric: string): string {
  const help = exporterFamilies[metric] ?? families.get(metric)?.help;
  if (help === undefined) throw new Error(`there is no metric ${metric}`);
  return help;
}

/** Returns a selector in Zabbix' words; throws for a label that the metric does not have. */
export function selector(metric: string, labels: Labels, condition = ''): string {
  const family = families.get(metric);
  const known = family ? ['appliance', ...family.labels, ...(isStateSet(family) ? [family.stateLabel] : [])] : [];
  const strange = Object.keys(labels).find((label) => !known.includes(label));
  if (strange !== undefined) throw new Error(`${metric} has no label ${strange}`);
  const matchers = Object.entries(labels).map(([label, value]) =>
    value.startsWith('!') ? `${label}!="${value.slice(1)}"` : `${label}="${value}"`,
  );
  return `${metric}${matchers.length > 0 ? `{${matchers.join(',')}}` : ''}${condition}`;
}
