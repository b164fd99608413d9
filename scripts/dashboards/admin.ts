import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import { board, collapsed, section } from './board.ts';
import { lines, tile, timeline } from './graphs.ts';
import { anyIs, highIs } from './look.ts';
import { age, applianceId, changesMade, counted, exporterSeries, once, series } from './queries.ts';
import { yesNo } from './states.ts';
import { table } from './table.ts';

/** A tile with a number of the gateway. */
const numberOfGateway = { unit: 'short', decimals: 0, empty: 'no gateway' };
const requestId = 'site, appliance, method, endpoint, code';

/** The rows of a table by their number, which is its only value. */
const mostFirst = (title: string, number: string) => ({
  height: 11,
  sortBy: title,
  descending: true,
  values: [{ title, expr: `${number} > 0`, unit: 'short', decimals: 0, width: 110 }],
});

export function admin(): Dashboard {
  // Not `once`: each exporter has a gateway of its own, and what one counts the other does not.
  const sum = (by: string, expr: string) => `sum by (${by}) (${expr})`;
  const requests = (...matchers: string[]) => series('zlb_admin_requests_total', ...matchers);
  const denied = series('zlb_admin_denied_total');
  const over = (selector: string) => `sum(${counted(selector, '$__range')})`;
  const none = `0 * sum(${exporterSeries('zlb_admin_audit_records_total')})`;

  return board({
    uid: 'zlb-admin',
    title: 'Admin and audit',
    description: 'What is asked of the admin gateway, what it refuses, and how its audit is.',
    from: 'now-24h',
    alerts: ['alertname=~"Zlb(Admin|Audit).*"'],
    sections: {
      Now: section({
        Changes: tile({
          description: 'Whether changes are frozen on any gateway.',
          expr: `max(${exporterSeries('zlb_admin_frozen')})`,
          words: yesNo.frozen,
          empty: 'no gateway',
        }),
        Requests: tile({
          description: 'Requests to the gateway over this time.',
          expr: `${over(requests())} or ${none}`,
          ...numberOfGateway,
        }),
        'Changes made': tile({
          description: 'Changes on appliances over this time that succeeded, also those of approved changes.',
          expr: `${over(changesMade)} or ${none}`,
          ...numberOfGateway,
        }),
        Refused: tile({
          description: 'Requests that the gateway itself refused over this time, before any appliance was asked.',
          expr: `${over(denied)} or ${none}`,
          steps: anyIs('orange'),
          ...numberOfGateway,
        }),
        Failed: tile({
          description: 'Requests that were answered with 5xx over this time: the appliance, or the way to it.',
          expr: `${over(requests('code=~"5.."'))} or ${none}`,
          steps: anyIs('orange'),
          ...numberOfGateway,
        }),
        'Audit lines': tile({
          description: 'Lines written to the audit over this time.',
          expr: over(exporterSeries('zlb_admin_audit_records_total')),
          ...numberOfGateway,
        }),
        'Audit failures': tile({
          description: 'Attempts to write the audit that failed over this time. Changes are refused meanwhile.',
          expr: over(exporterSeries('zlb_admin_audit_write_failures_total')),
          steps: anyIs('red'),
          ...numberOfGateway,
        }),
        'Last audit line': tile({
          description: 'Time since the audit was last written, on the gateway where that is longest ago.',
          unit: 'dtdurations',
          expr: `max(${age('job, instance', exporterSeries('zlb_admin_audit_last_write_timestamp_seconds'))})`,
          empty: 'never',
        }),
      }),
      'Requests and refusals': section({
        'Requests over this time': table({
          description:
            'What was asked of the gateway, by operation and answer. A request that named no appliance has none.',
          width: 14,
          empty: 'Nothing was asked of the gateway.',
          labels: ['appliance', 'method', 'endpoint', 'code'],
          ...mostFirst('Requests', sum(requestId, counted(requests(), '$__range'))),
        }),
        'Refusals over this time': table({
          description: 'Who was refused, and why. Without a name: no valid token came along.',
          width: 10,
          empty: 'Nobody was refused.',
          labels: ['principal', 'reason', 'appliance'],
          ...mostFirst('Refusals', sum('principal, reason, site, appliance', counted(denied, '$__range'))),
        }),
        'Requests by answer': lines({
          description: 'Requests in each interval of the graph, by status.',
          stacked: true,
          queries: { '{{code}}': sum('code', counted(requests(), '$__rate_interval')) },
          empty: 'Nothing was asked of the gateway.',
        }),
        'Requests by operation': lines({
          description: 'Requests in each interval of the graph, of the ten operations that are asked for the most.',
          queries: {
            '{{method}} {{endpoint}}': `topk(10, ${sum('method, endpoint', counted(requests(), '$__rate_interval'))}) > 0`,
          },
          empty: 'Nothing was asked of the gateway.',
        }),
        'Changes by appliance': lines({
          description: 'Changes on appliances that succeeded, in each interval of the graph.',
          stacked: true,
          queries: { '{{appliance}}': `${sum(applianceId, counted(changesMade, '$__rate_interval'))} > 0` },
          empty: 'Nothing was changed.',
        }),
        'Refusals by principal and reason': lines({
          description:
            'Refusals within 15 minutes; the line is where the alert begins. Many at once: a script with the wrong rights, or an attack.',
          steps: highIs('orange', alertThresholds.adminDeniedPer15m),
          queries: { '{{principal}} {{reason}}': `topk(10, ${sum('principal, reason', counted(denied, '15m'))}) > 0` },
          empty: 'Nobody was refused.',
        }),
      }),
      Audit: collapsed({
        'Audit lines over time': lines({
          description: 'Lines written to the audit, and attempts that failed, in each interval of the graph.',
          queries: {
            '{{instance}} written': sum(
              'instance',
              `increase(${exporterSeries('zlb_admin_audit_records_total')}[$__rate_interval])`,
            ),
            '{{instance}} failed': sum(
              'instance',
              `increase(${exporterSeries('zlb_admin_audit_write_failures_total')}[$__rate_interval])`,
            ),
          },
        }),
        Freezes: timeline({
          description: 'When changes were frozen, on each gateway.',
          height: 9,
          queries: { '{{instance}}': once('instance', exporterSeries('zlb_admin_frozen')) },
          words: yesNo.frozen,
          empty: 'No gateway is known.',
        }),
      }),
    },
  });
}
