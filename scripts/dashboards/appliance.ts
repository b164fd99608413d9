import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import { board, collapsed, section } from './board.ts';
import { farmTable, readingAge } from './common-tables.ts';
import { latency, lines, tile, timeline } from './graphs.ts';
import { toCertificates, toExporter } from './links.ts';
import { highIs, type Titled } from './look.ts';
import {
  age,
  applianceId,
  busiest,
  counted,
  cpuBusy,
  farmId,
  fastest,
  inBits,
  infoOf,
  leastUp,
  memoryUsed,
  once,
  series,
  total,
} from './queries.ts';
import { numberedWords, stateNumber, yesNo } from './states.ts';
import { stateColumn, table, timeSince } from './table.ts';

const interfaceId = 'site, appliance, interface';

export function appliance(): Dashboard {
  const busy = alertThresholds.cpuBusyRatio;
  const used = alertThresholds.memoryUsedRatio;
  const one = (metric: string) => once(applianceId, series(metric));
  const sum = (metric: string) => `sum(${one(metric)})`;
  const backupAge = age(applianceId, series('zlb_backup_last_timestamp_seconds'));
  const backupSteps = highIs('orange', alertThresholds.backupAgeSeconds);

  return board({
    uid: 'zlb-appliance',
    title: 'Appliance',
    description: 'One load balancer, or some: its answers, its farms, its system.',
    from: 'now-6h',
    changesOf: 'appliances',
    sections: {
      Now: section({
        'Answers now': tile({
          description: 'Whether the API gives an authenticated answer; of several appliances, the worst.',
          expr: `min(${one('zlb_up')})`,
          words: yesNo.answers,
        }),
        'Age of the readings': readingAge('farms'),
        'Clock offset': tile({
          description:
            "The appliance's clock against the exporter's; of several appliances, the farthest. A wrong clock makes its own words on certificates, its trial licence and its logs wrong.",
          unit: 's',
          expr: `max(abs(${one('zlb_appliance_clock_offset_seconds')}))`,
          steps: highIs('red', alertThresholds.clockOffsetSeconds),
        }),
        'CPU busy': tile({
          description: 'Share of CPU time that was not idle; of several appliances, the highest.',
          unit: 'percentunit',
          decimals: 0,
          expr: `max(${cpuBusy})`,
          steps: highIs('red', busy),
        }),
        'Memory in use': tile({
          description: 'Share of memory in use, caches left out; of several appliances, the highest.',
          unit: 'percentunit',
          decimals: 0,
          expr: `max(${memoryUsed})`,
          steps: highIs('red', used),
        }),
        'Connections now': tile({
          description: 'Established connections of all farms.',
          unit: 'short',
          expr: `sum(${once(farmId, series('zlb_farm_established_connections'))})`,
        }),
        'Packages pending': tile({
          description: 'Package updates that wait. Not known while the appliance has not checked.',
          expr: sum('zlb_packages_pending'),
        }),
        'Newest backup': tile({
          description:
            'Age of the newest backup of the configuration on the appliance; of several appliances, the oldest.',
          unit: 'dtdurations',
          expr: `max(${backupAge})`,
          steps: backupSteps,
        }),
      }),
      Identity: collapsed({
        'What it is': table({
          description: 'Version, licence, cluster and care.',
          height: 7,
          sortBy: 'Appliance',
          empty: 'No appliance is known: does the exporter answer?',
          labels: [
            { label: 'appliance', title: 'Appliance', links: [toCertificates, toExporter] },
            'hostname',
            'product',
            'version',
            'edition',
            'kernel',
            'role',
          ],
          values: [
            { expr: infoOf('hostname, product, version, edition, kernel') },
            { expr: `group by (site, appliance, role) (${series('zlb_cluster_node_status')} == 1)` },
            { title: 'Answers', expr: one('zlb_up'), words: yesNo.answers },
            stateColumn('Circuit breaker', 'zlb_circuit_breaker_state', applianceId),
            stateColumn('Activation', 'zlb_activation_status', applianceId),
            stateColumn('Cluster node', 'zlb_cluster_node_status', applianceId),
            { title: 'Packages pending', expr: one('zlb_packages_pending') },
            { title: 'Backups', expr: one('zlb_backups') },
            timeSince('Newest backup', backupAge, { steps: backupSteps }),
          ],
        }),
      }),
      'Farms and traffic': section({
        Farms: farmTable(),
        'Connections by farm': lines({
          description: 'Established connections of the ten farms that had the most over this time.',
          queries: { '{{appliance}} {{farm}}': busiest(farmId, series('zlb_farm_established_connections')) },
        }),
        'Connection table': lines({
          description:
            'Entries of the connection table, all protocols and states, of the ten fullest. Enterprise alone.',
          queries: { '{{appliance}}': busiest(applianceId, series('zlb_connections')) },
        }),
        Received: traffic('received', 'receive'),
        Sent: traffic('sent', 'transmit'),
        Interfaces: table({
          description:
            'Interfaces and virtual interfaces with their addresses. An appliance does not say of all whether they are up.',
          height: 10,
          sortBy: 'Interface',
          empty: 'No interface is known.',
          labels: [{ label: 'appliance', title: 'Appliance' }, 'interface', 'kind', 'ip', 'parent'],
          values: [
            { expr: once(`${interfaceId}, kind, ip, parent`, series('zlb_interface_info')) },
            { title: 'State', expr: once(interfaceId, series('zlb_interface_up')), words: yesNo.up },
          ],
        }),
      }),
      'Course of its states': section({
        Answers: timeline({
          description:
            'Whether the appliance answers; of many, the forty that answered least. A gap means that nothing was known.',
          height: 8,
          queries: { '{{appliance}}': leastUp(applianceId, series('zlb_up')) },
          words: yesNo.answers,
          empty: 'Nothing is known of any appliance.',
        }),
        'Circuit breaker': timeline({
          description:
            'Closed: calls go through. Open: the exporter has given up on the appliance for a while. Half open: it tries again.',
          height: 8,
          queries: { '{{appliance}}': stateNumber('zlb_circuit_breaker_state', applianceId) },
          words: numberedWords('zlb_circuit_breaker_state'),
          empty: 'Nothing is known of any appliance.',
        }),
        'Cluster nodes': timeline({
          description: 'What each node says of itself as a member of a cluster.',
          width: 8,
          height: 8,
          queries: { '{{appliance}} {{node}}': stateNumber('zlb_cluster_node_status', 'site, appliance, node') },
          words: numberedWords('zlb_cluster_node_status'),
          empty: 'No node of a cluster is known.',
        }),
        VPNs: timeline({
          description: 'The state of each VPN, as the appliance words it.',
          width: 8,
          height: 8,
          queries: { '{{appliance}} {{vpn}}': stateNumber('zlb_vpn_status', 'site, appliance, vpn') },
          words: numberedWords('zlb_vpn_status'),
          empty: 'No VPN is known.',
        }),
        'Interfaces over time': timeline({
          description: 'Whether an interface is up; of many, the forty that were up least.',
          width: 8,
          height: 8,
          queries: { '{{appliance}} {{interface}}': leastUp(interfaceId, series('zlb_interface_up')) },
          words: yesNo.up,
          empty: 'No interface is known.',
        }),
      }),
      System: section({
        CPU: lines({
          description:
            'Share of CPU time that was not idle, of the ten busiest appliances; the line is where the alert begins.',
          unit: 'percentunit',
          width: 8,
          max: 1,
          steps: highIs('red', busy),
          queries: { '{{appliance}}': `topk(10, ${once(applianceId, cpuBusy)})` },
        }),
        'CPU by mode': lines({
          description:
            'Where CPU time goes, idle left out; the mean of the chosen appliances. softirq is network traffic.',
          unit: 'percentunit',
          width: 8,
          stacked: true,
          queries: {
            '{{mode}}': `avg by (mode) (${once('site, appliance, mode', series('zlb_system_cpu_ratio', 'mode!="idle"'))})`,
          },
        }),
        'Load for each core': lines({
          description:
            'Load average over 5 minutes for each core, of the ten busiest. More than 1 means that work waits.',
          unit: 'none',
          width: 8,
          steps: highIs('orange', 1),
          queries: { '{{appliance}}': `topk(10, ${one('zlb_system_load5')} / ${one('zlb_system_cpu_cores')})` },
        }),
        Memory: lines({
          description:
            'Share of memory in use, caches left out, of the ten fullest; the line is where the alert begins.',
          unit: 'percentunit',
          width: 8,
          max: 1,
          steps: highIs('red', used),
          queries: { '{{appliance}}': `topk(10, ${once(applianceId, memoryUsed)})` },
        }),
        'Memory by use': lines({
          description: 'Memory of the chosen appliances together.',
          unit: 'bytes',
          width: 8,
          stacked: true,
          queries: {
            used: sum('zlb_system_memory_used_bytes'),
            buffers: sum('zlb_system_memory_buffers_bytes'),
            cached: sum('zlb_system_memory_cached_bytes'),
            free: sum('zlb_system_memory_free_bytes'),
          },
        }),
        Swap: lines({
          description: 'Swap space in use, of the ten appliances that use the most. A load balancer should use none.',
          unit: 'bytes',
          width: 8,
          queries: { '{{appliance}}': busiest(applianceId, series('zlb_system_swap_used_bytes')) },
        }),
      }),
      'Its API and its changes': collapsed({
        'Time that calls take': latency({
          description:
            'How many calls to the appliance took how long. The exporter calls politely: long times are the appliance being slow.',
          expr: total(
            'le',
            'site, appliance, le',
            `rate(${series('zlb_api_request_duration_seconds_bucket')}[$__rate_interval])`,
          ),
        }),
        'Changes of state': lines({
          description:
            'Changes that the exporter saw from one reading to the next, by what changed and what it became.',
          queries: {
            '{{object}} {{to}}': `${total('object, to', 'site, appliance, object, to', counted(series('zlb_transitions_total'), '$__rate_interval'))} > 0`,
          },
          empty: 'Nothing changed.',
        }),
      }),
    },
  });
}

/** Shows the bits of the busiest interfaces in one direction. */
function traffic(done: string, metric: 'receive' | 'transmit'): Titled {
  const bytes = series(`zlb_interface_${metric}_bytes_total`);
  return lines({
    description: `Bits that the ten busiest interfaces ${done}. The appliance counts in steps of about 10 kB.`,
    unit: 'bps',
    queries: { '{{appliance}} {{interface}}': inBits(fastest(interfaceId, bytes, { window: '5m' })) },
  });
}
