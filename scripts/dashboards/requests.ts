import { collapsed, type Section } from './board.ts';
import { lines } from './graphs.ts';
import { farmId, fastest, inFarm, inService, once, series, total } from './queries.ts';
import { table } from './table.ts';

const off = 'No line about a request came (docs/request-log.md).';
const requestId = 'appliance, farm, service, backend, code';
const objectiveId = 'appliance, farm, objective';
const rate = (selector: string) => `rate(${selector}[$__rate_interval])`;

/** Panels about requests, from the logs that appliances send. */
export function requestSection(): Section {
  const requests = (...matchers: string[]) => series('zlb_requests_total', inFarm, inService, ...matchers);
  const all = total(farmId, requestId, rate(requests()));
  const failed = total(farmId, requestId, rate(requests('code=~"5.+"')));
  const duration = series('zlb_request_duration_seconds_bucket', inFarm, inService);
  const durations = total(`le, ${farmId}`, `le, ${farmId}, service`, rate(duration));
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
    'Errors by backend': lines({
      description:
        'Answers a second with a status of 500 or more, of the ten backends that gave the most; without a backend, the appliance answered by itself.',
      unit: 'reqps',
      queries: {
        '{{appliance}} {{farm}} {{service}} {{backend}} {{code}}': fastest(
          requestId,
          requestId,
          requests('code=~"5.+"'),
        ),
      },
      empty: 'No request got an error, or no line about one came.',
    }),
    Objectives: objectives(),
    'Lines of the log': lines({
      description: 'Lines a second by what became of them; answer and denial are requests, other is something else.',
      queries: {
        '{{appliance}} {{result}}': fastest(
          'appliance, result',
          'appliance, result',
          series('zlb_request_log_lines_total'),
        ),
      },
      empty: off,
    }),
  });
}

function objectives() {
  const ofObjective = (metric: string) => series(metric, inFarm);
  const within = (metric: string) => once(objectiveId, `increase(${ofObjective(metric)}[$__range])`);
  const wanted = once(objectiveId, ofObjective('zlb_objective_ratio'));
  const expected = within('zlb_objective_requests_total');
  const missed = within('zlb_objective_missed_total');
  return table({
    description:
      'What the clients of a farm may expect, and how much of the misses that it allows for the requests of this time is left: below 0 it was missed.',
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
