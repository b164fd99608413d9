import type { WatchedAppliances } from './exporter.ts';
import type { StackFlags } from './flags.ts';

/** What people read once everything runs: what to open, what to try, what comes next. */
export function introduction(
  { appliances, token }: WatchedAppliances,
  { exporter, gateway, prometheus, alertmanager }: StackFlags['addresses'],
): readonly string[] {
  return [
    'Simulated appliances, the exporter, Prometheus and Alertmanager are running.',
    '',
    ...appliances.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`),
    '',
    'Open',
    ...[
      [`http://${prometheus}/alerts`, 'the alerts: inactive, pending, firing'],
      [`http://${alertmanager}/#/alerts`, 'what was routed, grouped, inhibited'],
      [`http://${exporter}/`, 'what is watched and how it is'],
      [`http://${gateway}/docs`, 'every operation of the API, to read and try, with the token below'],
    ].map(([url = '', about = '']) => `  ${url.padEnd(34)} ${about}`),
    '',
    'Try, in another terminal: ZlbFarmDown fires for two farms of lb-madrid within four minutes. One is critical: it has no',
    'backend up, and no command here helps it. The other is stopped; start it:',
    `  export ZLB_ADMIN_URL=http://${gateway} ZLB_ADMIN_TOKEN=${token}`,
    `  npm start -- admin lb-madrid actOnFarm farmname=oldportal action=start --reason='ZlbFarmDown'`,
    'and RESOLVED follows within a minute. Take one down, and see it fire:',
    `  npm start -- admin lb-paris-1 actOnFarm farmname=www action=stop --reason='trying it'`,
    '',
    'The rules are the ones that ship (alerts/zlb.rules.yml), with the times that they wait: ZlbWatchdog comes at once, most of',
    'the others after 1 to 15 minutes, an hour at most. Alertmanager has the routes and inhibitions of',
    'alerts/alertmanager.example.yml, but waits for seconds only, and every notification comes here. Dashboards with Grafana:',
    'deploy/README.md. Stop with Ctrl-C.',
    '',
    'Notifications',
  ];
}
