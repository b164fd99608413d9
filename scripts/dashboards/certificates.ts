import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { board } from './board.ts';
import { alertTable, expirySteps, problemTable } from './common-tables.ts';
import { bars, lines, tile, timeline } from './graphs.ts';
import { toAppliance, toFarm } from './links.ts';
import { anyIs, type Steps } from './look.ts';
import { activationProblems, blindness, certificateProblems } from './problems.ts';
import { age, count, fileId, once, series } from './queries.ts';
import { numberedWords, stateNumber, yesNo } from './states.ts';
import { table } from './table.ts';
import type { Threshold } from './thresholds.ts';

/** They are read each ten minutes and hardly ever change. */
const certificateAge: Steps = [
  [null, 'green'],
  [1_800, 'orange'],
  [21_600, 'red'],
];

export function certificates(threshold: Threshold): Dashboard {
  const soon = threshold('certificate_expiry_soon_seconds');
  const imminent = threshold('certificate_expiry_imminent_seconds');
  const expiry = once(fileId, series('zlb_certificate_not_after_timestamp_seconds'));
  const unreadable = once(fileId, series('zlb_certificate_parse_error'));
  const used = `group by (appliance, farm, file) (${series('zlb_farm_certificate_info')})`;
  const ends = once('appliance', series('zlb_activation_not_after_timestamp_seconds'));
  const deactivated = once('appliance', series('zlb_activation_status', 'status="deactivated"'));

  return board({
    uid: 'zlb-certificates',
    title: 'Certificates and activation',
    description: 'Certificates in the stores of the appliances, and the licences of the appliances themselves.',
    from: 'now-7d',
    sections: [
      {
        title: 'Now',
        panels: [
          problemTable([...blindness(), ...certificateProblems(threshold), ...activationProblems(threshold)]),
          tile({
            title: 'Expired',
            description: 'Certificates whose date is past, by the clock of Prometheus.',
            expr: count(`${expiry} - time() < 0`, expiry),
            steps: anyIs('red'),
          }),
          tile({
            title: `Within ${imminent / 86_400} days`,
            description: 'Certificates that expire within this time and have not yet.',
            expr: count(`${expiry} - time() >= 0 < ${imminent}`, expiry),
            steps: anyIs('red'),
          }),
          tile({
            title: `Within ${soon / 86_400} days`,
            description: 'Certificates that expire within this time, but not at once.',
            expr: count(`${expiry} - time() >= ${imminent} < ${soon}`, expiry),
            steps: anyIs('orange'),
          }),
          tile({
            title: 'Next expiry',
            description: 'Time until the first certificate expires of those that have not; used by a farm or not.',
            unit: 'dtdhms',
            expr: `min(${expiry} - time() >= 0)`,
            steps: expirySteps(threshold, 'certificate'),
          }),
          tile({
            title: 'Unreadable',
            description: 'Files whose dates cannot be read: when they expire is not known.',
            expr: count(`${unreadable} == 1`, unreadable),
            steps: anyIs('orange'),
          }),
          tile({
            title: 'Deactivated',
            description: 'Appliances whose licence is over.',
            expr: count(`${deactivated} == 1`, deactivated),
            steps: anyIs('red'),
          }),
          tile({
            title: 'Next licence to end',
            description:
              'Time until the first licence ends of those that are not permanent; then the appliance is deactivated.',
            unit: 'dtdhms',
            expr: `min(${ends} - time() unless on (appliance) ${series('zlb_activation_info', 'kind="permanent"')})`,
            steps: expirySteps(threshold, 'activation'),
            empty: 'none ends',
          }),
          tile({
            title: 'Age of the readings',
            description: 'Time since the last good reading of the certificates; of several appliances, the oldest.',
            unit: 'dtdurations',
            expr: `max(${age('appliance', series('zlb_collector_last_success_timestamp_seconds', 'collector="certificates"'))})`,
            steps: certificateAge,
          }),
        ],
      },
      {
        title: 'Certificates',
        panels: [
          table({
            title: 'Certificates, the next to expire first',
            description:
              "Every certificate in a store. Farms is how many present it; the appliance's word hides an expiry behind other faults, so the date counts. Expiry of what cannot be read is empty.",
            unit: 'none',
            width: 24,
            height: 12,
            sortBy: 'Expires in',
            empty: 'No certificate is known.',
            labels: [
              { label: 'appliance', title: 'Appliance', links: [toAppliance] },
              { label: 'file', title: 'File' },
              { label: 'common_name', title: 'Name' },
              { label: 'issuer', title: 'Issuer' },
            ],
            values: [
              { expr: once(`${fileId}, common_name, issuer`, series('zlb_certificate_info', 'kind="certificate"')) },
              {
                title: 'Expires in',
                expr: `${expiry} - time()`,
                unit: 'dtdhms',
                steps: expirySteps(threshold, 'certificate'),
              },
              { title: 'Expires on', expr: `1000 * ${expiry}`, unit: 'dateTimeAsIso' },
              {
                title: 'Valid from',
                expr: `1000 * ${once(fileId, series('zlb_certificate_not_before_timestamp_seconds'))}`,
                unit: 'dateTimeAsIso',
              },
              { title: 'Farms', expr: `count by (${fileId}) (${used})` },
              {
                title: "Appliance's word",
                expr: stateNumber('zlb_certificate_status', fileId),
                words: numberedWords('zlb_certificate_status'),
              },
              { title: 'Readable', expr: unreadable, words: yesNo.read },
            ],
          }),
          table({
            title: 'Which farm presents which',
            description:
              'Certificates of HTTPS farms and the time that is left to them; without a time, the file is not in the store or cannot be read.',
            unit: 'none',
            width: 12,
            height: 10,
            sortBy: 'Expires in',
            empty: 'No farm with a certificate is known.',
            labels: [
              { label: 'appliance', title: 'Appliance', links: [toAppliance] },
              { label: 'farm', title: 'Farm', links: [toFarm] },
              { label: 'file', title: 'File' },
            ],
            values: [
              { expr: used },
              {
                title: 'Expires in',
                expr: `${used} * on (appliance, file) group_left () (${expiry} - time())`,
                unit: 'dtdhms',
                steps: expirySteps(threshold, 'certificate'),
              },
            ],
          }),
          alertTable(
            { width: 12, height: 10 },
            'alertname=~"Zlb(Farm)?Certificate.*|ZlbActivation.*|ZlbSupport.*|ZlbApplianceDeactivated"',
          ),
          lines({
            title: 'Time left',
            description: 'Of the ten certificates that are the next to expire. A line that jumps up is a renewal.',
            unit: 'dtdhms',
            width: 12,
            height: 9,
            min: -soon,
            steps: expirySteps(threshold, 'certificate'),
            queries: [{ expr: `bottomk(10, ${expiry} - time())`, legend: '{{appliance}} {{file}}' }],
            empty: 'No certificate is known.',
          }),
          bars({
            title: 'By issuer',
            description: 'How many certificates each authority has signed.',
            unit: 'none',
            width: 6,
            height: 9,
            query: {
              expr: `count by (issuer) (${once(`${fileId}, issuer`, series('zlb_certificate_info', 'kind="certificate"'))})`,
              legend: '{{issuer}}',
            },
          }),
          bars({
            title: 'By kind',
            description: 'Files in the stores: certificates, and requests that wait to be signed.',
            unit: 'none',
            width: 6,
            height: 9,
            query: {
              expr: `sum by (kind) (${once('appliance, kind', series('zlb_certificates'))})`,
              legend: '{{kind}}',
            },
          }),
          table({
            title: 'Signing requests',
            description: 'Requests that were made on an appliance and wait for their certificate.',
            unit: 'none',
            width: 12,
            height: 8,
            sortBy: 'File',
            empty: 'No request waits.',
            labels: [
              { label: 'appliance', title: 'Appliance', links: [toAppliance] },
              { label: 'file', title: 'File' },
              { label: 'common_name', title: 'Name' },
            ],
            values: [{ expr: once(`${fileId}, common_name`, series('zlb_certificate_info', 'kind="csr"')) }],
          }),
          table({
            title: 'Gone since yesterday',
            description:
              'Files that were in a store a day ago and are not now, though the store can be read: replaced under another name, or deleted.',
            unit: 'none',
            width: 12,
            height: 8,
            sortBy: 'File',
            empty: 'Nothing is gone.',
            labels: [
              { label: 'appliance', title: 'Appliance', links: [toAppliance] },
              { label: 'file', title: 'File' },
              { label: 'common_name', title: 'Name' },
            ],
            values: [
              {
                expr: `${once(`${fileId}, common_name`, `${series('zlb_certificate_info')} offset 1d`)} unless on (appliance, file) ${series('zlb_certificate_info')} and on (appliance) ${series('zlb_certificates')}`,
              },
            ],
          }),
        ],
      },
      {
        title: 'Activation',
        panels: [
          table({
            title: 'Licences',
            description:
              'A temporal licence deactivates its appliance when it ends; a permanent one goes on working, without support.',
            unit: 'none',
            width: 12,
            height: 10,
            sortBy: 'Ends in',
            empty: 'No licence is known.',
            labels: [
              { label: 'appliance', title: 'Appliance', links: [toAppliance] },
              { label: 'kind', title: 'Kind' },
            ],
            values: [
              { expr: once('appliance, kind', series('zlb_activation_info')) },
              {
                title: 'State',
                expr: stateNumber('zlb_activation_status', 'appliance'),
                words: numberedWords('zlb_activation_status'),
              },
              {
                title: 'Ends in',
                expr: `${ends} - time()`,
                unit: 'dtdhms',
                steps: expirySteps(threshold, 'activation'),
              },
              { title: 'Ends on', expr: `1000 * ${ends}`, unit: 'dateTimeAsIso' },
              {
                title: 'Began on',
                expr: `1000 * ${once('appliance', series('zlb_activation_not_before_timestamp_seconds'))}`,
                unit: 'dateTimeAsIso',
              },
            ],
          }),
          timeline({
            title: 'Activation over time',
            description: 'The activation of each appliance. A gap means that nothing was known.',
            width: 12,
            height: 10,
            queries: [{ expr: stateNumber('zlb_activation_status', 'appliance'), legend: '{{appliance}}' }],
            words: numberedWords('zlb_activation_status'),
            empty: 'Nothing is known of any activation.',
          }),
        ],
      },
    ],
  });
}
