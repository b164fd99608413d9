import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import { board, collapsed, section } from './board.ts';
import { farmsNotUpTable, farmTable, readingAge } from './common-tables.ts';
import { lines, tile, timeline } from './graphs.ts';
import { anyIs, backendSteps, highIs, neutral, noneIs } from './look.ts';
import {
  backendId,
  backendsUpRatio,
  busiest,
  count,
  farmId,
  inFarm,
  inService,
  once,
  series,
  serviceId,
} from './queries.ts';
import { requestSection } from './requests.ts';
import { servedSection } from './served.ts';
import { leastUpStates, numberedWords, yesNo } from './states.ts';
import { only, share, stateColumn, table, type ValueColumn } from './table.ts';

const backend = '{{appliance}} {{farm}} {{service}} {{backend}}';
/** See docs/api.md §1.7. */
const notAskedL4 = 'Those of L4 farms are not read, since the read may cut all of them.';

export function farm(): Dashboard {
  const ofFarm = (metric: string, ...matchers: string[]) => series(metric, inFarm, ...matchers);
  const farms = (status: string) => once(farmId, ofFarm('zlb_farm_status', status));
  // By the sums, which are there in compact mode too.
  const backends = (status: string) => `sum(${once(serviceId, ofBackend('zlb_farm_backends', `status="${status}"`))})`;
  const inMaintenance = `(${ofBackend('zlb_backend_status', 'status="maintenance"')} == 1)`;
  // Looked at once an hour.
  const maintenanceTime = once(
    backendId,
    `3600 * count_over_time(${inMaintenance}[1d:1h]) and ${inMaintenance} or 0 * ${inMaintenance}`,
  );

  const month = `${ofFarm('farm:zlb_farm_status:available')}[30d]`;
  const backendsNotUp = `${once(backendId, ofBackend('zlb_backend_status', 'status!="up"'))} == 1`;
  const servicesNotUp = `${backendsUpRatio(serviceId, inFarm, inService)} < 1`;

  return board({
    uid: 'zlb-farm',
    title: 'Farms and backends',
    description: 'Farms (virtual services), their services and their backends.',
    from: 'now-6h',
    changesOf: 'farms',
    variables: ['farm', 'service'],
    alerts: [inFarm, 'farm!=""'],
    sections: {
      Now: section({
        'Farms up': tile({
          description: 'Farms whose state is up, as their appliance words it.',
          expr: count(`${farms('status="up"')} == 1`, farms('status="up"')),
          steps: noneIs('red'),
        }),
        'Farms not up': tile({
          description: 'Farms in any other state than up and maintenance.',
          expr: count(`${farms('status!~"up|maintenance"')} == 1`, farms('status="up"')),
          steps: anyIs('red'),
        }),
        'Backends up': tile({
          description:
            'Backends in state up. In an L4 farm without health check that is all of them, whatever they do.',
          expr: backends('up'),
          steps: noneIs('red'),
        }),
        'Backends down': tile({
          description: 'Backends that their appliance cannot reach.',
          expr: backends('down'),
          steps: anyIs('orange'),
        }),
        'In maintenance': tile({
          description: 'Backends that somebody took out of service.',
          expr: backends('maintenance'),
          steps: anyIs('blue'),
        }),
        'Age of the readings': readingAge('backends', { more: ' The values of this board are as old.' }),
        Established: tile({
          description: 'Established connections of these farms.',
          unit: 'short',
          expr: `sum(${once(farmId, ofFarm('zlb_farm_established_connections'))})`,
        }),
        'Half open': tile({
          description: 'Half-open connections of these farms: clients that wait for a backend, or an attack.',
          unit: 'short',
          expr: `sum(${once(farmId, ofFarm('zlb_farm_pending_connections'))})`,
          steps: highIs('orange', alertThresholds.pendingConnections),
        }),
      }),
      'Not up': section({
        'Farms that are not up': farmsNotUpTable(inFarm),
        'Services with backends that are not up': table({
          description: 'Services of the farms of which a backend is neither up nor in maintenance.',
          height: 8,
          sortBy: 'Share up',
          empty: 'All backends are up or in maintenance, or none is known.',
          labels: ['appliance', 'farm', 'service'],
          values: only(serviceColumns(), serviceId, servicesNotUp),
        }),
        'Backends that are not up': table({
          description: 'Backends in any other state than up, also those in maintenance.',
          height: 9,
          sortBy: 'State',
          descending: true,
          empty: 'All backends are up, or none is known.',
          labels: ['appliance', 'farm', 'service', 'backend'],
          values: only(backendColumns(), backendId, backendsNotUp),
        }),
      }),
      'All farms (choose an appliance first)': collapsed({
        Farms: farmTable(inFarm),
        'State of the farms': timeline({
          description:
            'The states of each farm; of many, the forty that were up least. A gap means that nothing was known.',
          width: 24,
          height: 11,
          queries: { '{{appliance}} {{farm}}': leastUpStates('zlb_farm_status', farmId, inFarm) },
          words: numberedWords('zlb_farm_status'),
          empty: 'No farm is known.',
        }),
        'Availability over 30 days': table({
          description:
            'The part of the time in which clients were served, as far as the appliance and the probe say. Maintenance, and time of which nobody knows, is left out: the second column says how much is left.',
          height: 9,
          sortBy: 'Available',
          empty: 'The recordings of a month are not there.',
          labels: ['appliance', 'farm'],
          values: [
            { title: 'Available', expr: once(farmId, `avg_over_time(${month})`), unit: 'percentunit', decimals: 3 },
            share('Known', once(farmId, `clamp_max(count_over_time(${month}) / 43200, 1)`)),
          ],
        }),
        'Established connections': lines({
          description: 'Of the ten farms that had the most over this time.',
          queries: { '{{appliance}} {{farm}}': busiest(farmId, ofFarm('zlb_farm_established_connections')) },
        }),
        'Half-open connections': lines({
          description:
            'Of the ten farms that had the most over this time. Many of them: backends too slow to accept, or an attack.',
          steps: highIs('orange', alertThresholds.pendingConnections),
          queries: { '{{appliance}} {{farm}}': busiest(farmId, ofFarm('zlb_farm_pending_connections')) },
        }),
        'Persistence sessions': lines({
          description: `Clients that are bound to a backend, of the ten farms that had the most over this time. ${notAskedL4}`,
          width: 24,
          queries: { '{{appliance}} {{farm}}': busiest(farmId, ofFarm('zlb_farm_sessions')) },
        }),
      }),
      'Requests, where appliances send their log': requestSection(),
      'As clients meet them': servedSection(),
      'All backends (choose an appliance first)': collapsed({
        Services: table({
          description:
            'Services of the farms with their backends. L4 farms have one service without a name. Without a health check an L4 backend is always up.',
          height: 9,
          sortBy: 'Share up',
          empty: 'No service is known.',
          labels: ['appliance', 'farm', 'service'],
          values: serviceColumns(),
        }),
        'Backends, one by one': table({
          description: `The state of each backend, its connections, its limit and its settings. Half-open connections belong to an address and are shared by all farms that use it. ${notAskedL4}`,
          height: 11,
          sortBy: 'State',
          descending: true,
          empty: 'No backend is known, or all are up in compact mode.',
          labels: ['appliance', 'farm', 'service', 'backend'],
          values: backendColumns(),
        }),
        'State of the backends': timeline({
          description:
            'The states of each backend; of many, the forty that were up least. A gap means that nothing was known.',
          width: 24,
          height: 11,
          queries: { [backend]: leastUpStates('zlb_backend_status', backendId, inFarm, inService) },
          words: numberedWords('zlb_backend_status'),
          empty: 'No backend is known, or all are up in compact mode.',
        }),
        'Share of backends up': lines({
          description: 'Of the ten services that are worst off at each time; below the line the alert begins.',
          unit: 'percentunit',
          max: 1,
          steps: [
            [null, 'red'],
            [alertThresholds.farmBackendsUpRatio, 'green'],
          ],
          queries: {
            '{{appliance}} {{farm}} {{service}}': `bottomk(10, ${backendsUpRatio(serviceId, inFarm, inService)})`,
          },
        }),
        'Established connections by backend': lines({
          description: `Of the ten backends that had the most over this time. ${notAskedL4}`,
          queries: { [backend]: busiest(backendId, ofBackend('zlb_backend_established_connections')) },
        }),
        'Half-open connections by backend': lines({
          description: `Of the ten backends that had the most over this time. ${notAskedL4}`,
          queries: { [backend]: busiest(backendId, ofBackend('zlb_backend_pending_connections')) },
        }),
        Flapping: lines({
          description:
            'How often a backend went down within three hours, of the ten that did the most; above the line, the alert may begin.',
          steps: highIs('orange', alertThresholds.outagesPer3h),
          queries: {
            [backend]: `topk(10, ${once(backendId, `resets(${ofBackend('zlb_backend_status', 'status="up"')}[3h])`)} > 0)`,
          },
          empty: 'No backend went up or down (compact mode cannot tell).',
        }),
        Maintenance: table({
          description: 'Backends that somebody took out of service, and for how much of the last day.',
          height: 9,
          sortBy: 'Within a day',
          descending: true,
          empty: 'No backend is in maintenance.',
          labels: ['appliance', 'farm', 'service', 'backend'],
          values: [{ title: 'Within a day', expr: maintenanceTime, unit: 'dtdurations', decimals: 1, steps: neutral }],
        }),
      }),
    },
  });
}

const ofBackend = (metric: string, ...matchers: string[]) => series(metric, inFarm, inService, ...matchers);

function serviceColumns(): readonly ValueColumn[] {
  const backends = (status: string) => once(serviceId, ofBackend('zlb_farm_backends', `status="${status}"`));
  return [
    share('Share up', backendsUpRatio(serviceId, inFarm, inService), backendSteps),
    { title: 'Up', expr: backends('up') },
    { title: 'Down', expr: backends('down'), steps: anyIs('orange') },
    { title: 'Maintenance', expr: backends('maintenance'), steps: anyIs('blue') },
    { title: 'Not known', expr: backends('unknown'), steps: anyIs('purple') },
    { title: 'Health check', expr: once(serviceId, ofBackend('zlb_farm_health_check')), words: yesNo.linked },
  ];
}

function backendColumns(): readonly ValueColumn[] {
  return [
    stateColumn('State', 'zlb_backend_status', backendId, inFarm, inService),
    { title: 'Established', expr: once(backendId, ofBackend('zlb_backend_established_connections')), unit: 'short' },
    { title: 'Half open', expr: once(backendId, ofBackend('zlb_backend_pending_connections')), unit: 'short' },
    { title: 'Limit', expr: once(backendId, ofBackend('zlb_backend_max_connections')), unit: 'short' },
    { title: 'Weight', expr: once(backendId, ofBackend('zlb_backend_weight')) },
    { title: 'Priority', expr: once(backendId, ofBackend('zlb_backend_priority')) },
  ];
}
