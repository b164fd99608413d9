import { type GreetingFacts, places } from '../greeting.ts';
import type { DemonstrationAppliance } from '../../../simulator/demo.ts';

interface DemonstrationGreeting extends GreetingFacts {
  readonly appliances: readonly DemonstrationAppliance[];
  /** Each belongs to another person. */
  readonly tokens: { readonly demo: string; readonly approver: string };
  readonly taken: readonly string[];
}

/** Returns the lines of the demonstration: what runs, what to open, and one fault to repair. */
export function demonstrationGreeting(facts: DemonstrationGreeting): readonly string[] {
  const { version, appliances, adminUrl = '', tokens, taken, paint } = facts;
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
    ...places(facts),
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
