import type { DemonstrationAppliance } from '../../simulator/demo.ts';
import { plural } from '../lib/text.ts';
import type { Shell } from './command.ts';

interface RunningExporter {
  readonly version: string;
  readonly url: string;
  /** Base URL of the admin listener; undefined when it is off. */
  readonly adminUrl: string | undefined;
  readonly paint: Shell['paint'];
}

/** Returns the lines for a person who started an exporter on a terminal. */
export function greeting(running: RunningExporter, appliances: number): readonly string[] {
  return [
    `zlb-exporter ${running.version} watches ${plural(appliances, 'appliance')}.`,
    ...places(running),
    '',
    'The log follows on standard error; --log.format=logfmt is easier to read. Stop with Ctrl-C.',
    '',
  ];
}

interface RunningDemonstration extends RunningExporter {
  readonly appliances: readonly DemonstrationAppliance[];
  /** Each belongs to another person. */
  readonly tokens: { readonly demo: string; readonly approver: string };
  readonly taken: readonly string[];
}

/** Returns the lines of the demonstration: what runs, what to open, and one fault to repair. */
export function demonstrationGreeting(running: RunningDemonstration): readonly string[] {
  const { version, appliances, adminUrl = '', tokens, taken, paint } = running;
  const [nameWidth, urlWidth] = [12, 24];
  return [
    `zlb-exporter ${version} on seven simulated load balancers, since no configuration is given.`,
    ...(taken.length === 0
      ? []
      : ['', `Another program uses ${taken.join(' and ')}, so the demonstration uses free ports.`]),
    '',
    ...appliances.map(
      ({ name, about, appliance }) => `  ${name.padEnd(nameWidth)} ${appliance.url.padEnd(urlWidth)} ${about}`,
    ),
    ...places(running),
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

function places({ url, adminUrl, paint }: RunningExporter): readonly string[] {
  const rows = [
    [`${url}/`, 'what is wrong now, and how everything is'],
    [`${url}/metrics`, 'what Prometheus reads'],
    ...(adminUrl === undefined
      ? []
      : [
          [`${adminUrl}/docs`, 'every operation of the API, to read and try'],
          [`${adminUrl}/console`, 'changes that wait for a decision'],
        ]),
  ];
  return ['', paint('bold', 'Open'), ...rows.map(([place = '', about = '']) => `  ${place.padEnd(31)} ${about}`)];
}
