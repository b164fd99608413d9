import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { board, section } from './board.ts';
import { bars, lines, tile, timeline } from './graphs.ts';
import { toAppliance, toCertificates, toExporter } from './links.ts';
import { ageSteps, anyIs, noneIs } from './look.ts';
import {
  age,
  applianceId,
  count,
  expiryUrgency,
  farmId,
  fileId,
  firing,
  infoOf,
  leastUp,
  once,
  series,
  serviceId,
  total,
  watchdog,
} from './queries.ts';
import { notifying } from './inhibitions.ts';
import { fleetRequestSection } from './requests.ts';
import { stateWords, yesNo } from './states.ts';
import { stateColumn, table, timeLeft, timeSince } from './table.ts';

export function fleet(): Dashboard {
  const expiry = once(fileId, series('zlb_certificate_not_after_timestamp_seconds'));
  const up = once(applianceId, series('zlb_up'));
  const farmsRead = series('zlb_collector_last_success_timestamp_seconds', 'collector="farms"');
  const farms = once(`${farmId}, status`, series('zlb_farm_status'));
  const notUp = once(farmId, series('zlb_farm_status', 'status!~"up|maintenance"'));
  const backendsDown = once(serviceId, series('zlb_farm_backends', 'status="down"'));
  const deactivated = once(applianceId, series('zlb_activation_status', 'status="deactivated"'));
  const alerts = (severity: string) => count(notifying(firing(`severity="${severity}"`)), watchdog);

  return board({
    uid: 'zlb-fleet',
    title: 'Fleet',
    description: 'All load balancers: what is wrong now, and where to look next.',
    from: 'now-6h',
    changesOf: 'appliances',
    sections: {
      Now: section({
        Answering: tile({
          description: 'Load balancers that give authenticated answers.',
          expr: count(`${up} == 1`, up),
          steps: noneIs('red'),
        }),
        'Not answering': tile({
          description: 'Load balancers of which nothing is known: their API gives no authenticated answer.',
          expr: count(`${up} == 0`, up),
          steps: anyIs('red'),
        }),
        Deactivated: tile({
          description: 'Load balancers whose licence is over: their API refuses nearly everything.',
          expr: count(`${deactivated} == 1`, deactivated),
          steps: anyIs('red'),
        }),
        'Farms not up': tile({
          description: 'Farms in any other state than up and maintenance.',
          expr: count(`${notUp} == 1`, farms),
          steps: anyIs('red'),
        }),
        'Backends down': tile({
          description: 'Backends that their appliance cannot reach; those in maintenance are not among them.',
          expr: `sum(${backendsDown})`,
          steps: anyIs('orange'),
        }),
        'Certificates to renew': tile({
          description:
            'Certificates with little of their life left, and expired ones, whether a farm uses them or not.',
          expr: count(`(${expiryUrgency('certificate', fileId)}) > 0`, expiry),
          steps: anyIs('orange'),
        }),
        'Critical alerts': tile({
          description: 'Alerts that fire and page somebody. Not known while Prometheus has not loaded the rules.',
          expr: alerts('critical'),
          steps: anyIs('red'),
          empty: 'no rules',
        }),
        Warnings: tile({
          description:
            'Alerts that fire and can wait for the day. Not known while Prometheus has not loaded the rules.',
          expr: alerts('warning'),
          steps: anyIs('orange'),
          empty: 'no rules',
        }),
      }),
      'Each appliance': section({
        Appliances: table({
          description:
            'One row for each load balancer. Age is that of the newest reading of its farms: the row is as old. Click a name for its own board.',
          height: 11,
          sortBy: 'Appliance',
          empty: 'No appliance is known: does the exporter answer?',
          labels: [
            { label: 'appliance', title: 'Appliance', links: [toAppliance, toCertificates, toExporter] },
            'product',
            'version',
            'edition',
          ],
          values: [
            { expr: infoOf('product, version, edition') },
            // Every appliance, answering or not, so that the table has a row for it.
            { expr: once(applianceId, series('zlb_exporter_series')) },
            { title: 'Answers', expr: up, words: yesNo.answers },
            stateColumn('Activation', 'zlb_activation_status', applianceId),
            timeSince('Age', age(applianceId, farmsRead), { steps: ageSteps }),
            { title: 'Farms', expr: `count by (site, appliance) (${once(farmId, series('zlb_farm_status'))})` },
            { title: 'Not up', expr: `sum by (site, appliance) (${notUp})`, steps: anyIs('red') },
            { title: 'Backends down', expr: `sum by (site, appliance) (${backendsDown})`, steps: anyIs('orange') },
            timeLeft('Next expiry', `min by (site, appliance) (${expiry}) - time()`),
            timeLeft(
              'Licence ends',
              `${once(applianceId, series('zlb_activation_not_after_timestamp_seconds'))} - time()`,
            ),
            {
              title: 'Connections',
              expr: total(applianceId, farmId, series('zlb_farm_established_connections')),
              unit: 'short',
            },
          ],
        }),
        'Farms by state': bars({
          description: 'How many farms are in which state, on all chosen appliances.',
          width: 24,
          height: 8,
          queries: { '{{status}}': `sum by (status) (${farms})` },
          words: stateWords('zlb_farm_status'),
        }),
      }),
      Course: section({
        Answers: timeline({
          description:
            'Whether an appliance answers; of many, the forty that answered least. A gap means that nothing was known: the exporter did not run, or was not scraped.',
          height: 10,
          queries: { '{{site}} {{appliance}}': leastUp(applianceId, series('zlb_up')) },
          words: yesNo.answers,
          empty: 'Nothing is known of any appliance.',
        }),
        Connections: lines({
          description: 'Established connections of all farms, for the ten appliances that have the most.',
          height: 10,
          queries: {
            '{{site}} {{appliance}}': `topk(10, ${total(applianceId, farmId, series('zlb_farm_established_connections'))})`,
          },
        }),
      }),
      Requests: fleetRequestSection(),
    },
  });
}
