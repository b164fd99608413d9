import { parseArgs } from 'node:util';
import { isLoopback, parseListenAddress } from '../../src/lib/address.ts';
import { StackError } from './program.ts';

/** The listeners, in the order of the introduction. */
export const listeners = ['exporter', 'gateway', 'prometheus', 'alertmanager'] as const;
export type Listener = (typeof listeners)[number];

export interface StackFlags {
  readonly help: boolean;
  /** `host:port` of each, or `:port` for every address. */
  readonly addresses: Readonly<Record<Listener, string>>;
  /** Other programs than Debian's. */
  readonly prometheus: string | undefined;
  readonly alertmanager: string | undefined;
  /** Alerts wait as long as they ship. */
  readonly patient: boolean;
}

const address = (usual: string) => ({ type: 'string', default: usual, example: usual }) as const;

/** Each flag; one with an example has a value. */
export const options = {
  prometheus: { type: 'string', example: '/usr/bin/prometheus' },
  alertmanager: { type: 'string', example: '/usr/bin/prometheus-alertmanager' },
  'exporter.listen-address': address('127.0.0.1:9444'),
  'gateway.listen-address': address('127.0.0.1:9445'),
  'prometheus.listen-address': address('127.0.0.1:9090'),
  'alertmanager.listen-address': address('127.0.0.1:9093'),
  patient: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export const help = `npm run stack [-- FLAGS]

Simulated load balancers, the exporter, Prometheus with alerts/zlb*.rules.yml and
Alertmanager on this machine, until Ctrl-C. Nothing is kept and nothing leaves the
machine: notifications are printed here.

  --patient                       alerts wait for minutes, as they ship, not for seconds
  --prometheus=PATH               another Prometheus than the one in PATH
  --alertmanager=PATH             another Alertmanager than Debian's prometheus-alertmanager
${listeners.map((name) => `  --${name}.listen-address=${options[`${name}.listen-address`].default}`).join('\n')}`;

/** Reads the command line; throws a StackError that says what is wrong with it. */
export function parseStackFlags(words: readonly string[]): StackFlags {
  const values = parse(words);
  const addresses = { exporter: '', gateway: '', prometheus: '', alertmanager: '' };
  for (const name of listeners) {
    const address = parseListenAddress(values[`${name}.listen-address`]);
    if (!address || address.port === 0)
      throw new StackError(`--${name}.listen-address must be host:port or :port, for example 127.0.0.1:19090`);
    addresses[name] = values[`${name}.listen-address`];
  }
  if (!isLoopback(addresses.gateway))
    throw new StackError(
      `--gateway.listen-address=${addresses.gateway} would let tokens cross the network in clear text; give it an address of this machine alone, for example 127.0.0.1:9445`,
    );
  const { prometheus, alertmanager, patient } = values;
  return { help: values.help, addresses, prometheus, alertmanager, patient };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    // The first sentence names the flag; the others are about parseArgs.
    const [sentence] = String(error instanceof Error ? error.message : error).split('. ');
    throw new StackError(`${sentence}; npm run stack -- --help lists the flags`, { cause: error });
  }
}
