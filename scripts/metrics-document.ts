import { adminMetricFamilies } from '../src/gateway/admin-metrics.ts';
import { collectors } from '../src/collectors/registry.ts';
import type { Family } from '../src/metrics/family.ts';
import { ownFamilies } from '../src/poller/collector-statistics.ts';
import { requestFamilies } from '../src/requests/counts.ts';
import { isStateSet } from './families.ts';
import { markdownTable } from './markdown.ts';
import { collectorQueries, exporterQueries, gatewayQueries, queryBlock, requestQueries } from './metrics-queries.ts';

/** docs/metrics.md: every family that is served, by the collector that feeds it. */
export function metricsDocument(): string {
  const known = new Set<Family>();
  const parts = collectors.map(({ name, enabled, families: written }) => {
    const queries = collectorQueries[name];
    const families = written.map(({ family }) => family);
    const own = families.filter((family) => !known.has(family));
    for (const family of own) known.add(family);
    const shared = families.filter((family) => !own.includes(family)).map(({ name: shared }) => `\`${shared}\``);
    return [
      `## ${name}`,
      '',
      ...(enabled ? [] : ['Off by default.', '']),
      ...(shared.length > 0 ? [`It also feeds ${shared.join(' and ')}.`, ''] : []),
      table(own),
      ...(queries ? ['', queryBlock(queries)] : []),
    ].join('\n');
  });
  return `# Metrics

Written by \`npm run docs\` from the code.

- Every series has the label \`appliance\`, the configured name.
- Names that end in \`_total\` are counters, \`zlb_api_request_duration_seconds\` is a histogram, all
  others are gauges.
- A label with its values has one series per value, of which exactly one is 1. \`unknown\` is also a
  state that this exporter does not know.
- Unknown values have no series: absent is not 0. Readings are removed after
  [\`max_stale\`](configuration.md#collectors).
- A meaning ends with its source. Without one it is this exporter.
- Metrics with *detail* are left out first at [the limit of series](scaling.md#the-limit-of-series).

${parts.join('\n\n')}

## requests

From the [log of requests](requests.md), off by default. Bounds of buckets are
[\`requests.buckets\`](configuration.md#requests).

${table(requestFamilies)}

${queryBlock(requestQueries)}

## Of the exporter, for each appliance

${table(ownFamilies)}

${queryBlock(exporterQueries)}

## Of the admin gateway

On \`/metrics\` only, if the gateway is configured. \`appliance\` is empty if a request named none.

${adminTable()}

${queryBlock(gatewayQueries)}

## Of the exporter itself

Without the label \`appliance\`, on \`/metrics\` only:

- \`zlb_exporter_build_info\` (version, revision, node_version)
- \`zlb_exporter_demonstration\`: 1 while the demonstration runs
- \`zlb_exporter_config_last_reload_successful\`, \`zlb_exporter_config_last_reload_success_timestamp_seconds\`
- \`zlb_exporter_log_lines_dropped_total\`: log lines that could not be written
- \`zlb_exporter_request_log_refused_total\` (reason): datagrams and connections of the
  [log of requests](requests.md) that were refused
- the \`process_*\` and \`nodejs_*\` families of prom-client
`;
}

const titles = ['Metric', 'Labels', 'Meaning'];

function adminTable(): string {
  const rows = Object.values(adminMetricFamilies).map(({ name, help, ...rest }) => [
    `\`${name}\``,
    'labelNames' in rest ? rest.labelNames.join('; ') : '–',
    withoutOwnSource(help),
  ]);
  return markdownTable(titles, rows);
}

function table(families: readonly Family[]): string {
  const rows = families.map((family) => {
    const set = isStateSet(family) ? family : undefined;
    const labels = [...family.labels, ...(set ? [`${set.stateLabel}: ${set.states.join(', ')}`] : [])];
    const name = `\`${family.name}\`${family.isDetail ? ' (*detail*)' : ''}`;
    return [name, labels.join('; ') || '–', withoutOwnSource(family.help)];
  });
  return markdownTable(titles, rows);
}

/** Removes a source that the top of the document names. */
function withoutOwnSource(help: string): string {
  return help.replace(' (this exporter)', '').replace(' (TCP and TLS from this exporter)', '');
}
