import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/judgement/alert-thresholds.ts';
import { board, type Section } from './board.ts';
import { alertTable } from './common-tables.ts';
import { latency, lines, tile, timeline } from './graphs.ts';
import { anyIs, highIs, neutral, noneIs } from './look.ts';
import {
  age,
  busiest,
  collectorId,
  count,
  counted,
  exporterSeries,
  fastest,
  leastUp,
  once,
  series,
  total,
} from './queries.ts';
import { numberedWords, stateNumber, yesNo } from './states.ts';
import { table } from './table.ts';

const target = 'job, instance';

export function exporter(): Dashboard {
  const late = alertThresholds.collectorStaleIntervals;
  // Part of its interval that a run takes.
  const slow = 0.8;
  const up = once(target, exporterSeries('up'));
  const success = once(collectorId, series('zlb_collector_success'));
  const readingAge = age(collectorId, series('zlb_collector_last_success_timestamp_seconds'));
  const interval = once(collectorId, series('zlb_collector_interval_seconds'));
  const duration = once(collectorId, series('zlb_collector_duration_seconds'));
  const intervals = `(${readingAge}) / ${interval}`;
  const errors = series('zlb_collector_errors_total');
  const breaker = once('appliance', series('zlb_circuit_breaker_state', 'state!="closed"'));
  const calls = series('zlb_api_requests_total');
  const callTimes = (by: string, window: string) =>
    total(by, 'appliance, le', `rate(${series('zlb_api_request_duration_seconds_bucket')}${window})`);
  const ofRoutes = (metric: string, id: string) => total('endpoint', id, `rate(${series(metric)}[$__rate_interval])`);

  return board({
    uid: 'zlb-exporter',
    title: 'Exporter and API health',
    description: 'How well the appliances can be read, and how the exporter itself is.',
    from: 'now-6h',
    sections: [
      {
        title: 'Now',
        panels: [
          alertTable('alertname=~"Zlb(Exporter|Config|Series|Appliance|Auth|Permission|Collector|Api).*"'),
          tile({
            title: 'Targets up',
            description: 'Scrape targets that Prometheus reaches, in jobs whose names contain zlb.',
            expr: count(`${up} == 1`, up),
            steps: noneIs('red'),
          }),
          tile({
            title: 'Targets down',
            description: 'Scrape targets that Prometheus does not reach: nothing is known of their appliances.',
            expr: count(`${up} == 0`, up),
            steps: anyIs('red'),
          }),
          tile({
            title: 'Configuration',
            description:
              'Whether the configuration that was read last is the one in force; of several exporters, the worst.',
            expr: `min(${exporterSeries('zlb_exporter_config_last_reload_successful')})`,
            words: yesNo.inForce,
            steps: neutral,
          }),
          tile({
            title: 'Readings late',
            description: `Collectors whose last good reading is older than ${late} of their intervals, or that have none since the exporter started.`,
            expr: count(`(${intervals} > ${late} or ${success} == 0 unless ${readingAge})`, interval),
            steps: anyIs('orange'),
          }),
          tile({
            title: 'Readings failing',
            description: 'Collectors whose last run did not end well.',
            expr: count(`${success} == 0`, success),
            steps: anyIs('orange'),
          }),
          tile({
            title: 'Calls held back',
            description: 'Appliances to which the circuit breaker lets no calls through, or only a trial.',
            expr: count(`${breaker} == 1`, breaker),
            steps: anyIs('red'),
          }),
          tile({
            title: 'Series',
            description: 'Series that the exporters hold for the appliances.',
            unit: 'short',
            expr: `sum(${once('appliance', series('zlb_exporter_series'))})`,
            steps: neutral,
          }),
          tile({
            title: 'Series left out',
            description: 'Series left out within 15 minutes: over limits.series_per_appliance, or named twice.',
            unit: 'short',
            expr: `sum(${once('appliance, reason', `increase(${series('zlb_exporter_series_dropped_total')}[15m])`)})`,
            steps: anyIs('orange'),
          }),
        ],
      },
      {
        title: 'Readings',
        panels: [
          table({
            title: 'Readings of each collector',
            description: `Intervals is the age of the last good reading, counted in intervals of its collector: over ${late} an alert begins. Share is that of the interval which a run takes.`,
            height: 12,
            sortBy: 'Intervals',
            descending: true,
            empty: 'No collector has run: does the exporter answer?',
            labels: ['appliance', 'collector'],
            values: [
              { title: 'Last run', expr: success, words: yesNo.success },
              { title: 'Age', expr: readingAge, unit: 'dtdurations' },
              { title: 'Intervals', expr: intervals, decimals: 1, steps: highIs('red', late) },
              { title: 'Interval', expr: interval, unit: 'dtdurations' },
              { title: 'Run takes', expr: duration, unit: 's', decimals: 2 },
              {
                title: 'Share',
                expr: `${duration} / ${interval}`,
                unit: 'percentunit',
                decimals: 0,
                steps: highIs('orange', slow),
              },
              {
                title: 'Last try',
                expr: age(collectorId, series('zlb_collector_last_attempt_timestamp_seconds')),
                unit: 'dtdurations',
              },
              {
                title: 'Errors in an hour',
                expr: total(collectorId, `${collectorId}, reason`, counted(errors, '1h')),
                decimals: 0,
                steps: anyIs('orange'),
              },
            ],
          }),
          timeline({
            title: 'Readings over time',
            description: 'Whether the last run of a collector ended well; of many, the forty that failed most.',
            height: 12,
            queries: { '{{appliance}} {{collector}}': leastUp(success, collectorId, series('zlb_collector_success')) },
            words: yesNo.success,
            empty: 'No collector has run.',
          }),
          timeline({
            title: 'Circuit breakers',
            description:
              'Closed: calls go through. Open: the exporter has given up on the appliance for a while. Half open: it tries again.',
            height: 12,
            queries: { '{{appliance}}': stateNumber('zlb_circuit_breaker_state', 'appliance') },
            words: numberedWords('zlb_circuit_breaker_state'),
            empty: 'Nothing is known of any appliance.',
          }),
          lines({
            title: 'Errors',
            description: 'Failed calls by collector and reason, the ten that are the most at each moment.',
            unit: 'short',
            queries: {
              '{{collector}}: {{reason}}': `topk(10, ${total('collector, reason', `${collectorId}, reason`, counted(errors, '$__rate_interval'))}) > 0`,
            },
            empty: 'No call failed.',
          }),
          lines({
            title: 'Runs left out',
            description:
              'Ticks of the schedules without a run, by reason, as a rate. Unsupported is what an appliance does not have.',
            unit: 'reqps',
            queries: {
              '{{collector}}: {{reason}}': `${fastest(10, 'collector, reason', `${collectorId}, reason`, { selector: series('zlb_collector_skipped_total') })} > 0`,
            },
            empty: 'Every tick became a run.',
          }),
        ],
      },
      {
        title: 'Calls to the appliances',
        isCollapsed: true,
        panels: [
          lines({
            title: 'Calls by answer',
            description: 'Calls a second by status, or by reason where no answer came.',
            unit: 'reqps',
            stacked: true,
            queries: {
              '{{code}}': total('code', 'appliance, method, endpoint, code', `rate(${calls}[$__rate_interval])`),
            },
          }),
          latency({
            title: 'Time that calls take',
            description: 'How many calls took how long, to all chosen appliances.',
            expr: callTimes('le', '[$__rate_interval]'),
          }),
          lines({
            title: 'Slowest calls',
            description: 'The mean time of a call, of the ten slowest routes.',
            unit: 's',
            queries: {
              '{{endpoint}}': `topk(10, ${ofRoutes('zlb_api_busy_seconds_total', 'appliance, endpoint')} / ${ofRoutes('zlb_api_requests_total', 'appliance, method, endpoint, code')} > 0)`,
            },
          }),
          lines({
            title: 'Share of time that appliances spend on us',
            description:
              'How much of the time an appliance is answering the exporter; polling.max_busy_ratio limits it. The ten busiest.',
            unit: 'percentunit',
            queries: {
              '{{appliance}}': fastest(10, 'appliance', 'appliance, endpoint', {
                selector: series('zlb_api_busy_seconds_total'),
              }),
            },
          }),
        ],
      },
      changeRequests(),
      {
        title: 'The exporter',
        isCollapsed: true,
        panels: [
          table({
            title: 'Exporters',
            description:
              'One row for each scrape target. Only /metrics describes the process; a target of /probe describes its appliance alone.',
            height: 7,
            sortBy: 'Target',
            empty: 'No exporter is scraped.',
            labels: ['job', 'instance', 'version', 'node_version'],
            values: [
              { expr: once(`${target}, version, node_version`, exporterSeries('zlb_exporter_build_info')) },
              { title: 'Answers', expr: up, words: yesNo.answers },
              {
                title: 'Configuration',
                expr: once(target, exporterSeries('zlb_exporter_config_last_reload_successful')),
                words: yesNo.inForce,
              },
              {
                title: 'Read',
                expr: `1000 * ${once(target, exporterSeries('zlb_exporter_config_last_reload_success_timestamp_seconds'))}`,
                unit: 'dateTimeAsIso',
              },
              {
                title: 'Running for',
                expr: age(target, exporterSeries('process_start_time_seconds')),
                unit: 'dtdurations',
                decimals: 1,
              },
              {
                title: 'Scrape takes',
                expr: once(target, exporterSeries('scrape_duration_seconds')),
                unit: 's',
                decimals: 3,
              },
              { title: 'Samples', expr: once(target, exporterSeries('scrape_samples_scraped')), unit: 'short' },
            ],
          }),
          lines({
            title: 'Series by appliance',
            description: 'Series that are held, of the ten appliances that have the most.',
            unit: 'short',
            width: 8,
            queries: { '{{appliance}}': busiest(10, 'appliance', series('zlb_exporter_series')) },
          }),
          lines({
            title: 'Scrapes',
            description: 'Time that a scrape takes, of the ten slowest targets.',
            unit: 's',
            width: 8,
            queries: { '{{instance}}': busiest(10, target, exporterSeries('scrape_duration_seconds')) },
          }),
          lines({
            title: 'CPU of the exporter',
            description: 'CPU time of the process as a share of one core.',
            unit: 'percentunit',
            width: 8,
            queries: {
              '{{instance}}': once(target, `rate(${exporterSeries('process_cpu_seconds_total')}[$__rate_interval])`),
            },
          }),
          lines({
            title: 'Memory of the exporter',
            description: 'Memory of the process as the kernel counts it, and what of it JavaScript uses.',
            unit: 'bytes',
            width: 8,
            queries: {
              '{{instance}} resident': once(target, exporterSeries('process_resident_memory_bytes')),
              '{{instance}} heap': once(target, exporterSeries('nodejs_heap_size_used_bytes')),
            },
          }),
          lines({
            title: 'Event loop lag',
            description: 'How late 99 of 100 tasks begin at most. Above a tenth of a second scrapes get slow.',
            unit: 's',
            width: 8,
            queries: { '{{instance}}': once(target, exporterSeries('nodejs_eventloop_lag_p99_seconds')) },
          }),
          lines({
            title: 'Garbage collection',
            description: 'Share of time spent on collecting garbage, by kind.',
            unit: 'percentunit',
            width: 4,
            queries: {
              '{{instance}} {{kind}}': once(
                `${target}, kind`,
                `rate(${exporterSeries('nodejs_gc_duration_seconds_sum')}[$__rate_interval])`,
              ),
            },
          }),
          lines({
            title: 'Open files',
            description: 'File descriptors, connections among them: they go up and down, but should not keep going up.',
            unit: 'short',
            width: 4,
            queries: { '{{instance}}': once(target, exporterSeries('process_open_fds')) },
          }),
        ],
      },
    ],
  });
}

/** Shows the changes at the admin gateway that wait for a person. */
function changeRequests(): Section {
  const over = exporterSeries('zlb_admin_change_requests_total');
  return {
    title: 'Change requests',
    isCollapsed: true,
    panels: [
      tile({
        title: 'Change requests late',
        description: 'Open change requests that have waited for more than half of their time.',
        expr: `sum(${exporterSeries('zlb_admin_change_requests_late')})`,
        steps: anyIs('orange'),
        height: 9,
        empty: 'no gateway',
      }),
      lines({
        title: 'Change requests open',
        description: 'Change requests that are not over, by state.',
        unit: 'short',
        width: 10,
        stacked: true,
        queries: { '{{state}}': `sum by (state) (${exporterSeries('zlb_admin_change_requests_open')})` },
        empty: 'None is open.',
      }),
      lines({
        title: 'Change requests over',
        description:
          'Change requests that ended in each interval of the graph, by outcome. Suppressed: not proposed, since too many are open. Break glass: sent without approval.',
        unit: 'short',
        width: 11,
        queries: { '{{outcome}}': `sum by (outcome) (increase(${over}[$__rate_interval])) > 0` },
        empty: 'None ended.',
      }),
    ],
  };
}
