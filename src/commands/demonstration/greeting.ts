import type { DemonstrationAppliance } from '../../../simulator/demo.ts';
import type { Shell } from '../command.ts';

interface DemonstrationParts {
  readonly version: string;
  /** Base URLs of both listeners. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  readonly paint: Shell['paint'];
  readonly appliances: readonly DemonstrationAppliance[];
  /** Each belongs to another person. */
  readonly tokens: { readonly demo: string; readonly approver: string };
}

/** Returns the lines of the demonstration: what runs, what to open, and one fault to repair. */
export function demonstrationGreeting(parts: DemonstrationParts): readonly string[] {
  const { version, appliances, url, adminUrl = '', tokens, paint } = parts;
  const [nameWidth, urlWidth] = [12, 24];
  return [
    `zlb-exporter ${version} on five simulated load balancers, since no configuration is given.`,
    '',
    ...appliances.map(
      ({ name, about, appliance }) => `  ${name.padEnd(nameWidth)} ${appliance.url.padEnd(urlWidth)} ${about}`,
    ),
    '',
    paint('bold', 'Open'),
    ...[
      [`${url}/`, 'what is wrong now, and how everything is'],
      [`${url}/metrics`, 'what Prometheus reads'],
      [`${adminUrl}/docs`, 'every operation of the API, to read and try'],
      [`${adminUrl}/console`, 'changes that wait for a decision'],
    ].map(([place = '', about = '']) => `  ${place.padEnd(31)} ${about}`),
    '',
    paint('bold', 'Try, in another terminal, in the same folder'),
    '  The farm oldportal on lb-madrid is down. Restart it, and watch the page:',
    '',
    `  export ZLB_ADMIN_URL=${adminUrl}`,
    `  export ZLB_ADMIN_TOKEN=${tokens.demo}`,
    '  zlb-exporter admin lb-madrid restart-farm farm=oldportal --reason=demo --yes',
    '  zlb-exporter admin audit',
    '',
    '  Or ask for a change, which a second person approves, on the command line or in the console:',
    '',
    '  zlb-exporter admin lb-madrid restart-farm farm=payments --ask --reason=demo',
    `  export ZLB_ADMIN_TOKEN=${tokens.approver}`,
    '  zlb-exporter admin changes',
    '',
    '  The last command lists it. Approve it with its ID:',
    '',
    '  zlb-exporter admin changes approve ID --watch --reason=looked-at-it',
    '',
    paint('bold', 'Next'),
    '  With Prometheus, and alerts that fire and end, in a clone: npm run stack',
    '  One of yours; it asks for its key, and writes zlb.yml: zlb-exporter init 192.0.2.10',
    '',
    'Stop with Ctrl-C.',
  ];
}
