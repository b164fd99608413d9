import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { board, section } from './board.ts';
import { readingAge, urgencyWords } from './common-tables.ts';
import { bars, lines, tile, timeline } from './graphs.ts';
import { anyIs, expirySteps, lifeSteps, type Steps } from './look.ts';
import { applianceId, count, expiryUrgency, fileId, lifeLeft, once, series } from './queries.ts';
import { numberedWords, stateNumber, yesNo } from './states.ts';
import { date, share, stateColumn, table, timeLeft } from './table.ts';

/** They are read each ten minutes and hardly ever change. */
const certificateAge: Steps = [
  [null, 'green'],
  [1_800, 'orange'],
  [21_600, 'red'],
];

export function certificates(): Dashboard {
  const expiry = once(fileId, series('zlb_certificate_not_after_timestamp_seconds'));
  const unreadable = once(fileId, series('zlb_certificate_parse_error'));
  const used = `group by (site, appliance, farm, file) (${series('zlb_farm_certificate_info')})`;
  const ends = once(applianceId, series('zlb_activation_not_after_timestamp_seconds'));
  const deactivated = once(applianceId, series('zlb_activation_status', 'status="deactivated"'));

  return board({
    uid: 'zlb-certificates',
    title: 'Certificates and activation',
    description: 'Certificates in the stores of the appliances, and the licences of the appliances themselves.',
    from: 'now-7d',
    alerts: ['alertname=~"Zlb.*(Certificate|Activation|Support|Deactivated).*"'],
    sections: {
      Now: section({
        Expired: tile({
          description: 'Certificates whose date is past, by the clock of Prometheus.',
          expr: count(`${expiry} - time() < 0`, expiry),
          steps: anyIs('red'),
        }),
        Urgent: tile({
          description: 'Certificates with less than 3 days and less than a tenth of their life left, and expired ones.',
          expr: count(`(${expiryUrgency('certificate', fileId)}) == 2`, expiry),
          steps: anyIs('red'),
        }),
        Due: tile({
          description: 'Certificates with less than 28 days and less than a quarter of their life left.',
          expr: count(`(${expiryUrgency('certificate', fileId)}) == 1`, expiry),
          steps: anyIs('orange'),
        }),
        'Next expiry': tile({
          description: 'Time until the first certificate expires of those that have not; used by a farm or not.',
          unit: 'dtdhms',
          expr: `min(${expiry} - time() >= 0)`,
          steps: expirySteps,
        }),
        Unreadable: tile({
          description: 'Files whose dates cannot be read: when they expire is not known.',
          expr: count(`${unreadable} == 1`, unreadable),
          steps: anyIs('orange'),
        }),
        Deactivated: tile({
          description: 'Appliances whose licence is over.',
          expr: count(`${deactivated} == 1`, deactivated),
          steps: anyIs('red'),
        }),
        'Next licence to end': tile({
          description:
            'Time until the first licence ends of those that are not permanent; then the appliance is deactivated.',
          unit: 'dtdhms',
          expr: `min(${ends} - time() unless on (site, appliance) ${series('zlb_activation_info', 'kind="permanent"')})`,
          steps: expirySteps,
          empty: 'none ends',
        }),
        'Age of the readings': readingAge('certificates', { steps: certificateAge }),
      }),
      Certificates: section({
        'Certificates, the next to expire first': table({
          description:
            "Every certificate in a store. Farms is how many present it; the appliance's word hides an expiry behind other faults, so the date counts. Expiry of what cannot be read is empty.",
          height: 12,
          sortBy: 'Expires in',
          empty: 'No certificate is known.',
          labels: ['appliance', 'file', 'common_name', 'issuer'],
          values: [
            { expr: once(`${fileId}, common_name, issuer`, series('zlb_certificate_info', 'kind="certificate"')) },
            timeLeft('Expires in', `${expiry} - time()`),
            share('Life left', lifeLeft('certificate', fileId)),
            { title: 'Renewal', expr: expiryUrgency('certificate', fileId), words: urgencyWords },
            date('Expires on', expiry),
            date('Valid from', once(fileId, series('zlb_certificate_not_before_timestamp_seconds'))),
            { title: 'Farms', expr: `count by (${fileId}) (${used})` },
            stateColumn("Appliance's word", 'zlb_certificate_status', fileId),
            { title: 'Readable', expr: unreadable, words: yesNo.read },
          ],
        }),
        'Which farm presents which': table({
          description:
            'Certificates of HTTPS farms and the time that is left to them; without a time, the file is not in the store or cannot be read.',
          height: 10,
          sortBy: 'Expires in',
          empty: 'No farm with a certificate is known.',
          labels: ['appliance', 'farm', 'file'],
          values: [
            { expr: used },
            timeLeft('Expires in', `${used} * on (site, appliance, file) group_left () (${expiry} - time())`),
          ],
        }),
        'Life left': lines({
          description:
            'The part of its life that is left, of the ten certificates with the least. A line that jumps up is a renewal.',
          unit: 'percentunit',
          steps: lifeSteps,
          queries: { '{{appliance}} {{file}}': `bottomk(10, ${lifeLeft('certificate', fileId)})` },
          empty: 'No certificate is known.',
        }),
        'By issuer': bars({
          description: 'How many certificates each authority has signed.',
          width: 6,
          height: 9,
          queries: {
            '{{issuer}}': `count by (issuer) (${once(`${fileId}, issuer`, series('zlb_certificate_info', 'kind="certificate"'))})`,
          },
        }),
        'By kind': bars({
          description: 'Files in the stores: certificates, and requests that wait to be signed.',
          width: 6,
          height: 9,
          queries: { '{{kind}}': `sum by (kind) (${once('site, appliance, kind', series('zlb_certificates'))})` },
        }),
        'Signing requests': table({
          description: 'Requests that were made on an appliance and wait for their certificate.',
          width: 12,
          height: 8,
          sortBy: 'File',
          empty: 'No request waits.',
          labels: ['appliance', 'file', 'common_name'],
          values: [{ expr: once(`${fileId}, common_name`, series('zlb_certificate_info', 'kind="csr"')) }],
        }),
        'Gone since yesterday': table({
          description:
            'Files that were in a store a day ago and are not now, though the store can be read: replaced under another name, or deleted.',
          width: 12,
          height: 8,
          sortBy: 'File',
          empty: 'Nothing is gone.',
          labels: ['appliance', 'file', 'common_name'],
          values: [
            {
              expr: `${once(`${fileId}, common_name`, `${series('zlb_certificate_info')} offset 1d`)} unless on (site, appliance, file) ${series('zlb_certificate_info')} and on (site, appliance) ${series('zlb_certificates')}`,
            },
          ],
        }),
      }),
      Activation: section({
        Licences: table({
          description:
            'A temporal licence deactivates its appliance when it ends; a permanent one goes on working, without support.',
          width: 12,
          height: 10,
          sortBy: 'Ends in',
          empty: 'No licence is known.',
          labels: ['appliance', 'kind'],
          values: [
            { expr: once('site, appliance, kind', series('zlb_activation_info')) },
            stateColumn('State', 'zlb_activation_status', applianceId),
            timeLeft('Ends in', `${ends} - time()`),
            date('Ends on', ends),
            date('Began on', once(applianceId, series('zlb_activation_not_before_timestamp_seconds'))),
          ],
        }),
        'Activation over time': timeline({
          description: 'The activation of each appliance. A gap means that nothing was known.',
          height: 10,
          queries: { '{{appliance}}': stateNumber('zlb_activation_status', applianceId) },
          words: numberedWords('zlb_activation_status'),
          empty: 'Nothing is known of any activation.',
        }),
      }),
    },
  });
}
