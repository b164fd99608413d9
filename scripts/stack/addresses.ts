import { createServer } from 'node:net';
import { parseListenAddress } from '../../src/lib/address.ts';
import { errorCode } from '../../src/lib/check.ts';
import { type Listener, listeners, type StackFlags } from './flags.ts';
import { StackError } from './program.ts';

/**
 * Returns the address at which this machine reaches a listener: `127.0.0.1:9444` for `:9444`, which
 * is every address.
 */
export function reachable(address: string): string {
  return address.replace(/^(?:0\.0\.0\.0|\[::\])?:(?=\d+$)/, '127.0.0.1:');
}

/**
 * Rejects with a StackError that names every address that cannot be used, before anything is
 * started.
 */
export async function checkAddresses(addresses: StackFlags['addresses']): Promise<void> {
  const clashes = listeners.flatMap((name, index) =>
    listeners
      .slice(index + 1)
      .filter((other) => exclude(addresses[name], addresses[other]))
      .map((other) => clash(addresses, name, other)),
  );
  if (clashes.length > 0) throw new StackError(clashes.join('\n'));
  const problems: string[] = [];
  for (const name of listeners) {
    const code = await tryToListen(addresses[name]);
    if (code !== '') problems.push(problem(name, addresses[name], code));
  }
  if (problems.length > 0) throw new StackError(problems.join('\n'));
}

/** Whether two programs cannot listen on them at once. */
function exclude(one: string, other: string): boolean {
  const everywhere = [one, other].some((address) => reachable(address) !== address);
  return portOf(one) === portOf(other) && (everywhere || hostOf(one) === hostOf(other));
}

function portOf(address: string): number | undefined {
  return parseListenAddress(address)?.port;
}

function hostOf(address: string): string | undefined {
  const host = parseListenAddress(address)?.host.toLowerCase();
  return host === 'localhost' ? '127.0.0.1' : host;
}

function clash(addresses: StackFlags['addresses'], name: Listener, other: Listener): string {
  const [first, second] = [name, other].map((each) => `--${each}.listen-address=${addresses[each]}`);
  return `${first} and ${second} would be one port for two; choose another: ${flagOf(other)}`;
}

/** Returns the flag as it is typed: npm consumes flags before the dashes. */
function flagOf(name: Listener): string {
  return `npm run stack -- --${name}.listen-address=127.0.0.1:PORT`;
}

function problem(name: Listener, address: string, code: string): string {
  const choose = `choose another: ${flagOf(name)}`;
  if (code !== 'EADDRINUSE') return `cannot listen on ${address} (${code}); ${choose}`;
  const service = { prometheus: 'prometheus', alertmanager: 'prometheus-alertmanager' }[name as string];
  const perhaps = service === undefined ? '' : `; Debian's own service stops with: systemctl stop ${service}`;
  return `${address} is taken; stop what uses it, or ${choose}${perhaps}`;
}

/** The code of what went wrong, or an empty string. */
async function tryToListen(address: string): Promise<string> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const server = createServer();
  const code = await new Promise<string>((resolve) => {
    server.once('error', (error) => resolve(errorCode(error) || error.message));
    server.listen(port, host, () => resolve(''));
  });
  if (code === '') await new Promise((resolve) => server.close(resolve));
  return code;
}
