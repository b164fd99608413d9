import type { WatchedAppliances } from './exporter.ts';
import type { StackFlags } from './flags.ts';

/** Returns the text after the start: what to open, what to try, what comes next. */
export function introduction(
  { appliances, tokens }: WatchedAppliances,
  { exporter, gateway, prometheus, alertmanager }: StackFlags['addresses'],
  { patient }: Pick<StackFlags, 'patient'>,
): readonly string[] {
  return [
    'Five simulated load balancers, the exporter, Prometheus and Alertmanager are running.',
    '',
    ...appliances.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`),
    '',
    'Open',
    ...[
      [`http://${prometheus}/alerts`, 'the alerts: inactive, pending, firing'],
      [`http://${alertmanager}/#/alerts`, 'what was routed, grouped, inhibited'],
      [`http://${exporter}/`, 'what is wrong now, and how everything is'],
      [`http://${gateway}/docs`, 'every operation of the API, to read and try'],
      [`http://${gateway}/console`, 'changes that wait for a decision'],
    ].map(([url = '', about = '']) => `  ${url.padEnd(34)} ${about}`),
    '',
    'Try, in another terminal, in the same folder',
    `  ${patient ? 'In four minutes' : 'Within a minute'} ZlbFarmDown fires below for the farm "legacy" of lb-madrid, which has no`,
    '  backend up. Its "oldportal" was stopped before anybody looked: that is no alert.',
    '  Stop a farm, and see the alert fire; restart it, and RESOLVED comes.',
    '',
    `  export ZLB_ADMIN_URL=http://${gateway}`,
    `  export ZLB_ADMIN_TOKEN=${tokens.demo}`,
    '  npm start --silent -- admin lb-paris-1 actOnFarm farmname=www action=stop --reason=trying --yes',
    '  npm start --silent -- admin lb-paris-1 restart-farm farm=www --reason=ZlbFarmDown --yes',
    '',
    '  The farm "payments" of lb-madrid needs a restart. ZlbFarmNeedsRestart proposes it, and nothing is',
    '  sent before a second person approves it. Open the link of its notification and sign in with this',
    '  token, or use the command line:',
    '',
    `  export ZLB_ADMIN_TOKEN=${tokens.approver}`,
    '  npm start --silent -- admin requests',
    '  npm start --silent -- admin requests approve ID --watch --reason=looked-at-it',
    '',
    '  A certificate of lb-berlin expires in three days, and a folder of the exporter has its renewal:',
    '  its delivery to the farm "portal" is proposed as well.',
    '',
    ...(patient
      ? ['The rules (alerts/zlb*.rules.yml) wait as they ship: most 1 to 15 minutes, an hour at most.']
      : [
          'The rules are the ones that ship (alerts/zlb*.rules.yml), but wait for 10 to 70 seconds where those',
          'wait for minutes, in the same order; npm run stack -- --patient leaves them their times.',
        ]),
    'Routes and inhibitions are those of alerts/alertmanager.example.yml, and every notification comes',
    'here. With Grafana and the dashboards: deploy/README.md. Stop with Ctrl-C.',
    '',
    'Notifications',
  ];
}
