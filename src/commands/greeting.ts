import { plural } from '../lib/text.ts';
import type { Shell } from './command.ts';

export interface GreetingFacts {
  readonly version: string;
  readonly url: string;
  /** Base URL of the admin listener; undefined when it is off. */
  readonly adminUrl: string | undefined;
  readonly paint: Shell['paint'];
}

/** Returns the lines for a person who started an exporter on a terminal. */
export function greeting(facts: GreetingFacts, appliances: number): readonly string[] {
  return [
    `zlb-exporter ${facts.version} watches ${plural(appliances, 'appliance')}.`,
    ...places(facts),
    '',
    'The log follows on standard error; --log.format=logfmt is easier to read. Stop with Ctrl-C.',
    '',
  ];
}

export function places({ url, adminUrl, paint }: GreetingFacts): readonly string[] {
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
