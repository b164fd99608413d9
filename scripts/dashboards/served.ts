import { section, type Section } from './board.ts';
import { lines, timeline } from './graphs.ts';
import { lifeSteps } from './look.ts';
import { busiest, farmId, inFarm, leastUp, lifeLeft, once, series, servedId } from './queries.ts';
import { yesNo } from './states.ts';
import { share, table, timeLeft } from './table.ts';

const off = 'The collector vip is off, or no farm that it could probe runs.';

/** Panels about what clients of the farms meet, as the collector `vip` finds it. */
export function servedSection(): Section {
  const one = (metric: string, by: string) => once(by, series(metric, inFarm));
  const left = (metric: string) => `${one(`zlb_farm_served_${metric}_not_after_timestamp_seconds`, servedId)} - time()`;
  const stored = `max by (${farmId}) (${one('zlb_farm_certificate_info', 'site, appliance, farm, file')} * on (site, appliance, file) group_left () (${once('site, appliance, file', series('zlb_certificate_not_after_timestamp_seconds'))} - time()))`;
  return section({
    'Certificates as served': table({
      description:
        'What each farm presents for a name. The newest stored one is of the certificates that the farm is configured with: if that ends later, the farm was not restarted. The chain ends with its first intermediate to end.',
      height: 10,
      sortBy: 'Served ends in',
      empty: off,
      labels: ['appliance', 'farm', 'server_name', { label: 'common_name', title: 'Served' }, 'issuer'],
      values: [
        { expr: one('zlb_farm_served_certificate_info', `${servedId}, common_name, issuer`) },
        timeLeft('Served ends in', left('certificate')),
        timeLeft('Chain ends in', left('chain')),
        timeLeft('Newest stored ends in', stored),
        share('Life left', lifeLeft('farm_served_certificate', servedId, inFarm)),
        { title: 'In the store', expr: one('zlb_farm_served_certificate_in_store', servedId), words: yesNo.inStore },
        {
          title: 'Covers the name',
          expr: one('zlb_farm_served_certificate_valid_name', servedId),
          words: yesNo.covers,
        },
      ],
    }),
    'Reachable from the exporter': timeline({
      description:
        'Whether a TCP connection to the address of a running farm succeeded; of many, the forty that were reachable least. A gap means that it was not tried.',
      height: 9,
      queries: {
        '{{appliance}} {{farm}}': leastUp(farmId, series('zlb_farm_reachable', inFarm)),
      },
      words: yesNo.reachable,
      empty: off,
    }),
    'Time to connect': lines({
      description: 'Until a TCP connection was made, of the ten farms that took longest over this time.',
      unit: 's',
      queries: { '{{appliance}} {{farm}}': busiest(farmId, series('zlb_farm_connect_duration_seconds', inFarm)) },
      empty: off,
    }),
    'Life left as served': lines({
      description:
        'The part of its life that is left of a served certificate, of the ten with the least. A line that jumps up is a renewal that clients see.',
      unit: 'percentunit',
      steps: lifeSteps,
      queries: {
        '{{appliance}} {{farm}} {{server_name}}': `bottomk(10, ${lifeLeft('farm_served_certificate', servedId, inFarm)})`,
      },
      empty: off,
    }),
    'Failed probes': table({
      description:
        'Farms without a connection, and names without a certificate. Refused: nobody listens. Timeout: nothing came within five seconds. Not allowed: the address is reserved, or in none of vip.networks.',
      width: 12,
      height: 9,
      sortBy: 'Farm',
      empty: 'No probe failed.',
      labels: ['appliance', 'farm', 'server_name', 'reason'],
      values: [{ expr: one('zlb_farm_probe_failure_info', `${servedId}, reason`) }],
    }),
  });
}
