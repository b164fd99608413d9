import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import { board, collapsed, section, type Section } from './board.ts';
import { latency, lines, tile, timeline } from './graphs.ts';
import { anyIs, highIs, noneIs } from './look.ts';
import {
  age,
  applianceId,
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
import { date, share, table, timeSince } from './table.ts';

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
  const breaker = once(applianceId, series('zlb_circuit_breaker_state', 'state!="closed"'));
  const calls = series('zlb_api_requests_total');
  const callTimes = (by: string, window: string) =>
    total(by, 'site, appliance, le', `rate(${series('zlb_api_request_duration_seconds_bucket')}${window})`);
  const busyByRoute = total(
    'endpoint',
    'site, appliance, endpoint',
    `increase(${series('zlb_api_busy_seconds_total')}[$__rate_interval])`,
  );
  const callsByRoute = total('endpoint', 'site, appliance, method, endpoint, code', counted(calls, '$__rate_interval'));

  return board({
    uid: 'zlb-exporter',
    title: 'Exporter and API health',
    description: 'How well the appliances can be read, and how the exporter itself is.',
    from: 'now-6h',
    alerts: ['alertname=~"Zlb(Exporter|Config|Series|Appliance|Auth|Permission|Collector|Api).*"'],
    sections: {
      Now: section({
        'Targets up': tile({
          description: 'Scrape targets that Prometheus reaches, in jobs whose names contain zlb.',
          expr: count(`${up} == 1`, up),
          steps: noneIs('red'),
        }),
        'Targets down': tile({
          description: 'Scrape targets that Prometheus does not reach: nothing is known of their appliances.',
          expr: count(`${up} == 0`, up),
          steps: anyIs('red'),
        }),
        Configuration: tile({
          description:
            'Whether the configuration that was read last is the one in force; of several exporters, the worst.',
          expr: `min(${exporterSeries('zlb_exporter_config_last_reload_successful')})`,
          words: yesNo.inForce,
        }),
        'Readings late': tile({
          description: `Collectors whose last good reading is older than ${late} of their intervals, or that have none since the exporter started.`,
          expr: count(`(${intervals} > ${late} or ${success} == 0 unless ${readingAge})`, interval),
          steps: anyIs('orange'),
        }),
        'Readings failing': tile({
          description: 'Collectors whose last run did not end well.',
          expr: count(`${success} == 0`, success),
          steps: anyIs('orange'),
        }),
        'Calls held back': tile({
          description: 'Appliances to which the circuit breaker lets no calls through, or only a trial.',
          expr: count(`${breaker} == 1`, breaker),
          steps: anyIs('red'),
        }),
        Series: tile({
          description: 'Series that the exporters hold for the appliances.',
          unit: 'short',
          expr: `sum(${once(applianceId, series('zlb_exporter_series'))})`,
        }),
        'Series left out': tile({
          description: 'Series left out within 15 minutes: over limits.series_per_appliance, or named twice.',
          unit: 'short',
          expr: `sum(${once('site, appliance, reason', `increase(${series('zlb_exporter_series_dropped_total')}[15m])`)})`,
          steps: anyIs('orange'),
        }),
      }),
      Readings: section({
        'Readings of each collector': table({
          description: `Intervals is the age of the last good reading, counted in intervals of its collector: over ${late} an alert begins. Share is that of the interval which a run takes.`,
          height: 12,
          sortBy: 'Intervals',
          descending: true,
          empty: 'No collector has run: does the exporter answer?',
          labels: ['appliance', 'collector'],
          values: [
            { title: 'Last run', expr: success, words: yesNo.success },
            timeSince('Age', readingAge),
            { title: 'Intervals', expr: intervals, decimals: 1, steps: highIs('red', late) },
            { title: 'Interval', expr: interval, unit: 'dtdurations' },
            { title: 'Run takes', expr: duration, unit: 's', decimals: 2 },
            share('Share', `${duration} / ${interval}`, highIs('orange', slow)),
            timeSince('Last try', age(collectorId, series('zlb_collector_last_attempt_timestamp_seconds'))),
            {
              title: 'Errors in an hour',
              expr: total(collectorId, `${collectorId}, reason`, counted(errors, '1h')),
              decimals: 0,
              steps: anyIs('orange'),
            },
          ],
        }),
        'Readings over time': timeline({
          description: 'Whether the last run of a collector ended well; of many, the forty that failed most.',
          height: 12,
          queries: { '{{appliance}} {{collector}}': leastUp(collectorId, series('zlb_collector_success')) },
          words: yesNo.success,
          empty: 'No collector has run.',
        }),
        'Circuit breakers': timeline({
          description:
            'Closed: calls go through. Open: the exporter has given up on the appliance for a while. Half open: it tries again.',
          height: 12,
          queries: { '{{appliance}}': stateNumber('zlb_circuit_breaker_state', applianceId) },
          words: numberedWords('zlb_circuit_breaker_state'),
          empty: 'Nothing is known of any appliance.',
        }),
        Errors: lines({
          description: 'Failed calls by collector and reason, the ten that are the most at each moment.',
          queries: {
            '{{collector}}: {{reason}}': `topk(10, ${total('collector, reason', `${collectorId}, reason`, counted(errors, '$__rate_interval'))}) > 0`,
          },
          empty: 'No call failed.',
        }),
        'Runs left out': lines({
          description:
            'Ticks of the schedules without a run in each interval of the graph, by reason. Unsupported is what an appliance does not have.',
          queries: {
            '{{collector}}: {{reason}}': `topk(10, ${total('collector, reason', `${collectorId}, reason`, counted(series('zlb_collector_skipped_total'), '$__rate_interval'))}) > 0`,
          },
          empty: 'Every tick became a run.',
        }),
      }),
      'Calls to the appliances': collapsed({
        'Calls by answer': lines({
          description: 'Calls in each interval of the graph, by status, or by reason where no answer came.',
          stacked: true,
          queries: {
            '{{code}}': total('code', 'site, appliance, method, endpoint, code', counted(calls, '$__rate_interval')),
          },
        }),
        'Time that calls take': latency({
          description: 'How many calls took how long, to all chosen appliances.',
          expr: callTimes('le', '[$__rate_interval]'),
        }),
        'Slowest calls': lines({
          description: 'The mean time of a call, of the ten slowest routes.',
          unit: 's',
          queries: {
            '{{endpoint}}': `topk(10, ${busyByRoute} / ${callsByRoute} > 0)`,
          },
        }),
        'Share of time that appliances spend on us': lines({
          description:
            'How much of the time an appliance is answering the exporter; polling.max_busy_ratio limits it, but for waits for hung proxies. The ten busiest.',
          unit: 'percentunit',
          queries: {
            '{{appliance}}': fastest(applianceId, series('zlb_api_busy_seconds_total'), {
              identity: 'site, appliance, endpoint',
            }),
          },
        }),
      }),
      Changes: changes(),
      'The exporter': collapsed({
        Exporters: table({
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
            date('Read', once(target, exporterSeries('zlb_exporter_config_last_reload_success_timestamp_seconds'))),
            timeSince('Running for', age(target, exporterSeries('process_start_time_seconds')), { decimals: 1 }),
            {
              title: 'Scrape takes',
              expr: once(target, exporterSeries('scrape_duration_seconds')),
              unit: 's',
              decimals: 3,
            },
            { title: 'Samples', expr: once(target, exporterSeries('scrape_samples_scraped')), unit: 'short' },
          ],
        }),
        'Series by appliance': lines({
          description: 'Series that are held, of the ten appliances that have the most.',
          width: 8,
          queries: { '{{appliance}}': busiest(applianceId, series('zlb_exporter_series')) },
        }),
        Scrapes: lines({
          description: 'Time that a scrape takes, of the ten slowest targets.',
          unit: 's',
          width: 8,
          queries: { '{{instance}}': busiest(target, exporterSeries('scrape_duration_seconds')) },
        }),
        'CPU of the exporter': lines({
          description: 'CPU time of the process as a share of one core.',
          unit: 'percentunit',
          width: 8,
          queries: {
            '{{instance}}': once(target, `rate(${exporterSeries('process_cpu_seconds_total')}[$__rate_interval])`),
          },
        }),
        'Memory of the exporter': lines({
          description: 'Memory of the process as the kernel counts it, and what of it JavaScript uses.',
          unit: 'bytes',
          width: 8,
          queries: {
            '{{instance}} resident': once(target, exporterSeries('process_resident_memory_bytes')),
            '{{instance}} heap': once(target, exporterSeries('nodejs_heap_size_used_bytes')),
          },
        }),
        'Event loop lag': lines({
          description: 'How late 99 of 100 tasks begin at most. Above a tenth of a second scrapes get slow.',
          unit: 's',
          width: 8,
          queries: { '{{instance}}': once(target, exporterSeries('nodejs_eventloop_lag_p99_seconds')) },
        }),
        'Open files': lines({
          description: 'File descriptors, connections among them: they go up and down, but should not keep going up.',
          width: 8,
          queries: { '{{instance}}': once(target, exporterSeries('process_open_fds')) },
        }),
      }),
    },
  });
}

/** Shows the changes at the admin gateway that wait for a person. */
function changes(): Section {
  const over = exporterSeries('zlb_admin_changes_total');
  return collapsed({
    'Changes late': tile({
      description: 'Open changes that have waited for more than half of their time.',
      expr: `sum(${exporterSeries('zlb_admin_changes_late')})`,
      steps: anyIs('orange'),
      height: 9,
      empty: 'no gateway',
    }),
    'Changes open': lines({
      description: 'Changes that are not over, by state.',
      width: 10,
      stacked: true,
      queries: { '{{state}}': `sum by (state) (${exporterSeries('zlb_admin_changes_open')})` },
      empty: 'None is open.',
    }),
    'Changes over': lines({
      description:
        'Changes that ended in each interval of the graph, by outcome. Suppressed: not proposed, since too many are open. Break glass: sent without approval.',
      width: 11,
      queries: { '{{outcome}}': `sum by (outcome) (${counted(over, '$__rate_interval')}) > 0` },
      empty: 'None ended.',
    }),
  });
}
