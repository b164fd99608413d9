import { tile } from './graphs.ts';
import {
  age,
  applianceId,
  backendsUpRatio,
  exporterSeries,
  farmId,
  firing,
  once,
  series,
  serviceId,
  watchdog,
} from './queries.ts';
import { words, yesNo } from './states.ts';
import { ageSteps, backendSteps, type Titled } from './look.ts';
import { only, share, stateColumn, table, type TableSpec } from './table.ts';
import { notifying } from './inhibitions.ts';

/**
 * The first panel of every board: the alerts that fire. Without an exporter or rules no alert can
 * fire, and an empty table would look like good news: a row says so.
 */
export function alertTable(matchers: readonly string[] = []): Titled {
  return table({
    description:
      'The alerts that notify: those that fire and are not explained by another one. A click on an alert leads to its runbook. A row says so when no exporter is scraped or no rules are loaded.',
    height: 9,
    valuesFirst: true,
    sortBy: 'Severity',
    descending: true,
    empty: 'Nothing is wrong.',
    labels: ['alertname', 'appliance', 'farm', 'object'],
    values: [
      {
        title: 'Severity',
        width: 120,
        expr: `max by (alertname, site, appliance, farm, object) (\n  ${[withObject(matchers), ...blindness()].join('\n  or ')}\n)`,
        words: yesNo.severity,
      },
    ],
  });
}

/** Rows for what makes every other row impossible. */
function blindness(): readonly string[] {
  const up = exporterSeries('up');
  const row = (text: string, expr: string) => `label_replace(${expr}, "alertname", "${text}", "", "")`;
  return [
    row('no exporter is scraped: nothing is known', `3 * group(absent(${up}))`),
    row(
      'the exporter does not answer: nothing is known',
      `label_join(3 * group by (instance) (${up} == 0), "object", "", "instance")`,
    ),
    row('no rules are loaded: no alert can fire', `2 * group(absent(${watchdog}) and on () ${up} == 1)`),
  ];
}

/**
 * The object of an alert. No alert has all of these labels: most of the column's names are a word
 * or two. `of` is the exporter, only where an alert has no appliance: for the others, it does not
 * help to distinguish rows.
 */
const objectLabels = [
  'service',
  'backend',
  'file',
  'server_name',
  'interface',
  'vpn',
  'node',
  'collector',
  'of',
  'principal',
];

function withObject(matchers: readonly string[]): string {
  const weighed = ['info', 'warning', 'critical']
    .map((severity, index) => `${index + 1} * ${firing(`severity="${severity}"`, ...matchers)}`)
    .join(' or ');
  const exporter = `label_replace(${notifying(weighed)}, "of", "$1", "instance", "(.*)")`;
  const withExporter = `label_replace(${exporter}, "of", "", "appliance", ".+")`;
  const joined = `label_join(${withExporter}, "object", " ", ${objectLabels.map((label) => `"${label}"`).join(', ')})`;
  // Labels that an alert lacks leave their separators.
  return `label_replace(${joined}, "object", "$1", "object", " *(.*?) *")`;
}

/** How old the values of a board are: the time since a collector was last read well. */
export function readingAge(collector: string, { steps = ageSteps, more = '' } = {}): Titled {
  const read = series('zlb_collector_last_success_timestamp_seconds', `collector="${collector}"`);
  return tile({
    description: `Time since the last good reading of the ${collector}; of several appliances, the oldest.${more}`,
    unit: 'dtdurations',
    expr: `max(${age(applianceId, read)})`,
    steps,
  });
}

/** `matchers` narrow to a farm, on the board that has that variable. */
export function farmTable(...matchers: readonly string[]): Titled {
  return table({
    description:
      'One row for each farm (virtual service), as its appliance words its state. Share is of the backends that are not in maintenance, in the service that is worst off. Sessions of L4 farms are not read.',
    height: 11,
    sortBy: 'Farm',
    empty: 'No farm is known.',
    ...farmColumns(matchers),
  });
}

/** As {@link farmTable}, without farms that are up. */
export function farmsNotUpTable(...matchers: readonly string[]): Titled {
  const notUp = `${once(farmId, series('zlb_farm_status', 'status!="up"', ...matchers))} == 1`;
  const { labels, values } = farmColumns(matchers);
  return table({
    description: 'Farms in any other state than up, also those in maintenance.',
    height: 8,
    sortBy: 'Farm',
    empty: 'All farms are up, or none is known.',
    labels,
    values: only(values, farmId, notUp),
  });
}

function farmColumns(matchers: readonly string[]): Pick<TableSpec, 'labels' | 'values'> {
  const one = (metric: string) => once(farmId, series(metric, ...matchers));
  return {
    labels: ['appliance', 'farm', 'profile', 'vip', 'vport'],
    values: [
      { expr: once(`${farmId}, profile, vip, vport`, series('zlb_farm_info', ...matchers)) },
      stateColumn('State', 'zlb_farm_status', farmId, ...matchers),
      share('Share of backends up', `min by (${farmId}) (${backendsUpRatio(serviceId, ...matchers)})`, backendSteps),
      { title: 'Established', expr: one('zlb_farm_established_connections'), unit: 'short' },
      { title: 'Half open', expr: one('zlb_farm_pending_connections'), unit: 'short' },
      { title: 'Sessions', expr: one('zlb_farm_sessions'), unit: 'short' },
    ],
  };
}

/** The words for `expiryUrgency`. */
export const urgencyWords = words({ 0: ['in time', 'green'], 1: ['due', 'orange'], 2: ['urgent', 'red'] });
