import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/judgement/alert-thresholds.ts';
import { board } from './board.ts';
import { alertTable, farmsNotUpTable, farmTable } from './common-tables.ts';
import { lines, tile, timeline } from './graphs.ts';
import { ageSteps, anyIs, highIs, neutral, noneIs } from './look.ts';
import {
  age,
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
import { only, stateColumn, table, type ValueColumn } from './table.ts';

const backend = '{{appliance}} {{farm}} {{service}} {{backend}}';

export function farm(): Dashboard {
  const ofFarm = (metric: string, ...matchers: string[]) => series(metric, inFarm, ...matchers);
  const farms = (status: string) => once(farmId, ofFarm('zlb_farm_status', status));
  // By the sums, which are there in compact mode too.
  const backends = (status: string) => `sum(${once(serviceId, ofBackend('zlb_farm_backends', `status="${status}"`))})`;
  const share = alertThresholds.farmBackendsUpRatio;
  const limit = alertThresholds.backendConnectionsRatio;
  const inMaintenance = `(${ofBackend('zlb_backend_status', 'status="maintenance"')} == 1)`;
  // Looked at once an hour.
  const maintenanceTime = once(
    backendId,
    `3600 * count_over_time(${inMaintenance}[1d:1h]) and ${inMaintenance} or 0 * ${inMaintenance}`,
  );
  const use = `${once(backendId, ofBackend('zlb_backend_established_connections'))} / (${once(backendId, ofBackend('zlb_backend_max_connections'))} > 0)`;

  const backendsNotUp = `${once(backendId, ofBackend('zlb_backend_status', 'status!="up"'))} == 1`;
  const servicesNotUp = `${backendsUpRatio(serviceId, inFarm, inService)} < 1`;

  return board({
    uid: 'zlb-farm',
    title: 'Farms and backends',
    description: 'Farms (virtual services), their services and their backends.',
    from: 'now-6h',
    variables: ['farm', 'service'],
    sections: [
      {
        title: 'Now',
        panels: [
          alertTable(inFarm, 'farm!=""'),
          tile({
            title: 'Farms up',
            description: 'Farms whose state is up, as their appliance words it.',
            expr: count(`${farms('status="up"')} == 1`, farms('status="up"')),
            steps: noneIs('red'),
          }),
          tile({
            title: 'Farms not up',
            description: 'Farms in any other state than up and maintenance.',
            expr: count(`${farms('status!~"up|maintenance"')} == 1`, farms('status="up"')),
            steps: anyIs('red'),
          }),
          tile({
            title: 'Backends up',
            description:
              'Backends in state up. In an L4 farm without health check that is all of them, whatever they do.',
            expr: backends('up'),
            steps: noneIs('red'),
          }),
          tile({
            title: 'Backends down',
            description: 'Backends that their appliance cannot reach.',
            expr: backends('down'),
            steps: anyIs('orange'),
          }),
          tile({
            title: 'In maintenance',
            description: 'Backends that somebody took out of service.',
            expr: backends('maintenance'),
            steps: anyIs('blue'),
          }),
          tile({
            title: 'Age of the readings',
            description:
              'Time since the last good reading of the backends; of several appliances, the oldest. The values of this board are as old.',
            unit: 'dtdurations',
            expr: `max(${age('appliance', series('zlb_collector_last_success_timestamp_seconds', 'collector="backends"'))})`,
            steps: ageSteps,
          }),
          tile({
            title: 'Established',
            description: 'Established connections of these farms.',
            unit: 'short',
            expr: `sum(${once(farmId, ofFarm('zlb_farm_established_connections'))})`,
            steps: neutral,
          }),
          tile({
            title: 'Half open',
            description: 'Half-open connections of these farms: clients that wait for a backend, or an attack.',
            unit: 'short',
            expr: `sum(${once(farmId, ofFarm('zlb_farm_pending_connections'))})`,
            steps: highIs('orange', alertThresholds.pendingConnections),
          }),
        ],
      },
      {
        title: 'Not up',
        panels: [
          farmsNotUpTable(inFarm),
          table({
            title: 'Services with backends that are not up',
            description: 'Services of the farms of which a backend is neither up nor in maintenance.',
            height: 8,
            sortBy: 'Share up',
            empty: 'All backends are up or in maintenance, or none is known.',
            labels: ['appliance', 'farm', 'service'],
            values: only(serviceColumns(), serviceId, servicesNotUp),
          }),
          table({
            title: 'Backends that are not up',
            description: 'Backends in any other state than up, also those in maintenance.',
            height: 9,
            sortBy: 'State',
            descending: true,
            empty: 'All backends are up, or none is known.',
            labels: ['appliance', 'farm', 'service', 'backend'],
            values: only(backendColumns(use), backendId, backendsNotUp),
          }),
        ],
      },
      {
        title: 'All farms (choose an appliance first)',
        isCollapsed: true,
        panels: [
          farmTable(inFarm),
          timeline({
            title: 'State of the farms',
            description:
              'The states of each farm; of many, the forty that were up least. A gap means that nothing was known.',
            width: 24,
            height: 11,
            queries: { '{{appliance}} {{farm}}': leastUpStates('zlb_farm_status', farmId, inFarm) },
            words: numberedWords('zlb_farm_status'),
            empty: 'No farm is known.',
          }),
          lines({
            title: 'Established connections',
            description: 'Of the ten farms that had the most over this time.',
            unit: 'short',
            queries: { '{{appliance}} {{farm}}': busiest(10, farmId, ofFarm('zlb_farm_established_connections')) },
          }),
          lines({
            title: 'Half-open connections',
            description:
              'Of the ten farms that had the most over this time. Many of them: backends too slow to accept, or an attack.',
            unit: 'short',
            steps: highIs('orange', alertThresholds.pendingConnections),
            queries: { '{{appliance}} {{farm}}': busiest(10, farmId, ofFarm('zlb_farm_pending_connections')) },
          }),
          lines({
            title: 'Persistence sessions',
            description: 'Clients that are bound to a backend, of the ten farms that had the most over this time.',
            unit: 'short',
            width: 24,
            queries: { '{{appliance}} {{farm}}': busiest(10, farmId, ofFarm('zlb_farm_sessions')) },
          }),
        ],
      },
      requestSection(),
      servedSection(),
      {
        title: 'All backends (choose an appliance first)',
        isCollapsed: true,
        panels: [
          table({
            title: 'Services',
            description:
              'Services of the farms with their backends. L4 farms have one service without a name. Without a health check an L4 backend is always up.',
            height: 9,
            sortBy: 'Share up',
            empty: 'No service is known.',
            labels: ['appliance', 'farm', 'service'],
            values: serviceColumns(),
          }),
          table({
            title: 'Backends, one by one',
            description:
              'The state of each backend, its connections, its limit and its settings. Half-open connections belong to an address and are shared by all farms that use it.',
            height: 11,
            sortBy: 'State',
            descending: true,
            empty: 'No backend is known, or all are up in compact mode.',
            labels: ['appliance', 'farm', 'service', 'backend'],
            values: backendColumns(use),
          }),
          timeline({
            title: 'State of the backends',
            description:
              'The states of each backend; of many, the forty that were up least. A gap means that nothing was known.',
            width: 24,
            height: 11,
            queries: { [backend]: leastUpStates('zlb_backend_status', backendId, inFarm, inService) },
            words: numberedWords('zlb_backend_status'),
            empty: 'No backend is known, or all are up in compact mode.',
          }),
          lines({
            title: 'Share of backends up',
            description: 'Of the ten services that are worst off at each time; below the line the alert begins.',
            unit: 'percentunit',
            max: 1,
            steps: [
              [null, 'red'],
              [share, 'green'],
            ],
            queries: {
              '{{appliance}} {{farm}} {{service}}': `bottomk(10, ${backendsUpRatio(serviceId, inFarm, inService)})`,
            },
          }),
          lines({
            title: 'Use of connection limits',
            description:
              'Established connections against the limit of an L4 backend, of the ten fullest. At the limit new clients are refused.',
            unit: 'percentunit',
            steps: highIs('orange', limit),
            queries: { [backend]: `topk(10, ${use})` },
            empty: 'No backend has a limit (compact mode cannot tell).',
          }),
          lines({
            title: 'Established connections by backend',
            description: 'Of the ten backends that had the most over this time.',
            unit: 'short',
            queries: { [backend]: busiest(10, backendId, ofBackend('zlb_backend_established_connections')) },
          }),
          lines({
            title: 'Half-open connections by backend',
            description: 'Of the ten backends that had the most over this time.',
            unit: 'short',
            queries: { [backend]: busiest(10, backendId, ofBackend('zlb_backend_pending_connections')) },
          }),
          lines({
            title: 'Flapping',
            description:
              'How often a backend went up or down within 15 minutes, of the ten that did the most; the line is where the alert begins.',
            unit: 'short',
            steps: highIs('orange', alertThresholds.backendChangesPer15m),
            queries: {
              [backend]: `topk(10, ${once(backendId, `changes(${ofBackend('zlb_backend_status', 'status="up"')}[15m])`)} > 0)`,
            },
            empty: 'No backend went up or down (compact mode cannot tell).',
          }),
          table({
            title: 'Maintenance',
            description: 'Backends that somebody took out of service, and for how much of the last day.',
            width: 12,
            height: 9,
            sortBy: 'Within a day',
            descending: true,
            empty: 'No backend is in maintenance.',
            labels: ['appliance', 'farm', 'service', 'backend'],
            values: [
              {
                title: 'Within a day',
                expr: maintenanceTime,
                unit: 'dtdurations',
                decimals: 1,
                steps: neutral,
              },
            ],
          }),
        ],
      },
    ],
  });
}

const ofBackend = (metric: string, ...matchers: string[]) => series(metric, inFarm, inService, ...matchers);

function serviceColumns(): readonly ValueColumn[] {
  const share = alertThresholds.farmBackendsUpRatio;
  return [
    {
      title: 'Share up',
      expr: backendsUpRatio(serviceId, inFarm, inService),
      unit: 'percentunit',
      decimals: 0,
      steps: [
        [null, 'red'],
        [0.01, 'orange'],
        [share, 'green'],
      ],
    },
    ...(['up', 'down', 'maintenance', 'unknown'] as const).map((status) => ({
      title: status === 'unknown' ? 'Not known' : `${status.slice(0, 1).toUpperCase()}${status.slice(1)}`,
      expr: once(serviceId, ofBackend('zlb_farm_backends', `status="${status}"`)),
      ...(status === 'up' ? {} : { steps: anyIs({ down: 'orange', maintenance: 'blue', unknown: 'purple' }[status]) }),
    })),
    { title: 'Health check', expr: once(serviceId, ofBackend('zlb_farm_health_check')), words: yesNo.linked },
  ];
}

function backendColumns(use: string): readonly ValueColumn[] {
  const limit = alertThresholds.backendConnectionsRatio;
  return [
    stateColumn('State', 'zlb_backend_status', backendId, inFarm, inService),
    {
      title: 'Established',
      expr: once(backendId, ofBackend('zlb_backend_established_connections')),
      unit: 'short',
    },
    {
      title: 'Half open',
      expr: once(backendId, ofBackend('zlb_backend_pending_connections')),
      unit: 'short',
    },
    {
      title: 'Use of the limit',
      expr: use,
      unit: 'percentunit',
      decimals: 0,
      steps: highIs('orange', limit),
    },
    { title: 'Limit', expr: once(backendId, ofBackend('zlb_backend_max_connections')), unit: 'short' },
    { title: 'Weight', expr: once(backendId, ofBackend('zlb_backend_weight')) },
    { title: 'Priority', expr: once(backendId, ofBackend('zlb_backend_priority')) },
  ];
}
