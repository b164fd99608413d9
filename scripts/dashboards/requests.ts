import { collapsed, type Section } from './board.ts';
import { lines } from './graphs.ts';
import {
  applianceId,
  backendId,
  counted,
  exporterSeries,
  farmId,
  fastest,
  inBits,
  inFarm,
  inService,
  once,
  series,
  total,
} from './queries.ts';
import { table } from './table.ts';

const off = 'No line about a request came (docs/request-log.md).';
const requestId = 'site, appliance, farm, service, backend, code';
const objectiveId = 'site, appliance, farm, objective';
const rate = (selector: string) => `rate(${selector}[$__rate_interval])`;

/** Panels about requests, from the logs that appliances send. */
export function requestSection(): Section {
  const requests = (...matchers: string[]) => series('zlb_requests_total', inFarm, inService, ...matchers);
  const all = total(farmId, requestId, rate(requests()));
  const failed = total(farmId, requestId, rate(requests('code=~"5.+"')));
  const duration = series('zlb_request_duration_seconds_bucket', inFarm, inService);
  const durations = total(`le, ${farmId}`, `le, ${farmId}, service`, rate(duration));
  const ofBackends = (part: 'sum' | 'count') =>
    once(backendId, rate(series(`zlb_backend_request_duration_seconds_${part}`, inFarm, inService)));
  return collapsed({
    'Requests by answer': lines({
      description: 'Answers a second by the class of their status; 500, 502, 503 and 504 by themselves.',
      unit: 'reqps',
      stacked: true,
      queries: { '{{code}}': total('code', requestId, rate(requests())) },
      empty: off,
    }),
    'Share of errors': lines({
      description: 'The part of the requests that got a status of 500 or more, of the ten farms with the most.',
      unit: 'percentunit',
      queries: { '{{appliance}} {{farm}}': `topk(10, (${failed} or 0 * ${all}) / (${all} > 0))` },
      empty: off,
    }),
    'Time of 95 of 100 requests': lines({
      description:
        'The time within which 95 % of the requests were answered, of the ten slowest farms; between two bounds of the histogram it is an estimate.',
      unit: 's',
      queries: { '{{appliance}} {{farm}}': `topk(10, histogram_quantile(0.95, ${durations}))` },
      empty: off,
    }),
    'Mean time by backend': lines({
      description:
        'The mean time until a request was answered, of the ten slowest backends: is it one, or all of them?',
      unit: 's',
      queries: {
        '{{appliance}} {{farm}} {{service}} {{backend}}': `topk(10, ${ofBackends('sum')} / (${ofBackends('count')} > 0))`,
      },
      empty: off,
    }),
    'Errors by backend': lines({
      description:
        'Answers a second with a status of 500 or more, of the ten backends that gave the most; without a backend, the appliance answered by itself.',
      unit: 'reqps',
      queries: {
        '{{appliance}} {{farm}} {{service}} {{backend}} {{code}}': fastest(requestId, requests('code=~"5.+"')),
      },
      empty: 'No request got an error, or no line about one came.',
    }),
    'Bytes of answers': lines({
      description: 'Bits a second of the bodies of answers, of the ten farms with the most.',
      unit: 'bps',
      queries: { '{{appliance}} {{farm}}': inBits(fastest(farmId, series('zlb_response_bytes_total', inFarm))) },
      empty: off,
    }),
    Objectives: objectives(),
    'Burn of the objectives': lines({
      description:
        'How many times as many requests of the last hour missed an objective as it allows, of the ten that burn the most; above 1 the month will not do.',
      queries: {
        '{{appliance}} {{farm}} {{objective}}': `topk(10, ${once(objectiveId, series('farm:zlb_objective:burn1h', inFarm))})`,
      },
      empty: 'No farm has an objective (docs/request-log.md).',
    }),
    'Lines that were refused': lines({
      description:
        'Datagrams and connections a second that the exporter refused, by the reason; whose they are, it cannot tell.',
      queries: {
        '{{reason}}': total(
          'reason',
          'job, instance, reason',
          counted(exporterSeries('zlb_exporter_request_log_refused_total'), '$__rate_interval'),
        ),
      },
      empty: 'Nothing was refused.',
    }),
    'Lines of the log': lines({
      description: 'Lines a second by what became of them; answer and denial are requests, other is something else.',
      queries: {
        '{{appliance}} {{result}}': fastest('site, appliance, result', series('zlb_request_log_lines_total')),
      },
      empty: off,
    }),
  });
}

/** Panels about the requests of all farms, by their appliance. */
export function fleetRequestSection(): Section {
  const all = total(applianceId, requestId, rate(series('zlb_requests_total')));
  const failed = total(applianceId, requestId, rate(series('zlb_requests_total', 'code=~"5.+"')));
  return collapsed({
    'Requests by appliance': lines({
      description: 'Answers a second, of the ten appliances with the most.',
      unit: 'reqps',
      queries: { '{{site}} {{appliance}}': `topk(10, ${all})` },
      empty: off,
    }),
    'Share of errors by appliance': lines({
      description: 'The part of the requests that got a status of 500 or more, of the ten appliances with the most.',
      unit: 'percentunit',
      queries: { '{{site}} {{appliance}}': `topk(10, (${failed} or 0 * ${all}) / (${all} > 0))` },
      empty: off,
    }),
  });
}

function objectives() {
  const ofObjective = (metric: string) => series(metric, inFarm);
  // Whatever the range of the board: an objective is one of a month.
  const within = (metric: string) => once(objectiveId, `sum_over_time(${ofObjective(metric)}[30d:5m])`);
  const wanted = once(objectiveId, ofObjective('zlb_objective_ratio'));
  const expected = within('farm:zlb_objective_requests:increase5m');
  const missed = within('farm:zlb_objective_missed:increase5m');
  return table({
    description:
      'What the clients of a farm may expect, and how much of the misses that it allows for the requests of the last 30 days is left: below 0 it was missed.',
    width: 12,
    height: 9,
    sortBy: 'Left',
    empty: 'No farm has an objective (docs/request-log.md).',
    labels: ['appliance', 'farm', 'objective'],
    values: [
      { title: 'Wanted', expr: wanted, unit: 'percentunit' },
      { title: 'Requests', expr: expected, unit: 'short', decimals: 0 },
      { title: 'Missed', expr: missed, unit: 'short', decimals: 0 },
      {
        title: 'Left',
        expr: `1 - ${missed} / (${expected} > 0) / (1 - ${wanted})`,
        unit: 'percentunit',
        decimals: 0,
        steps: [
          [null, 'red'],
          [0, 'orange'],
          [0.25, 'green'],
        ],
      },
    ],
  });
}
