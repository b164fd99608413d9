import { createServer } from 'node:net';
import { errorCode } from '../../src/lib/check.ts';
import { parseListenAddress } from '../../src/lib/listen-address.ts';
import { type Listener, listeners, type StackFlags } from './flags.ts';
import { StackError } from './stack-error.ts';

/** Rejects with a StackError that names every address that cannot be used, before anything is started. */
export async function checkAddresses(addresses: StackFlags['addresses']): Promise<void> {
  const problems: string[] = [];
  for (const name of listeners) {
    const code = await tryToListen(addresses[name]);
    if (code !== '') problems.push(problem(name, addresses[name], code));
  }
  if (problems.length > 0) throw new StackError(problems.join('\n'));
}

function problem(name: Listener, address: string, code: string): string {
  const flag = `--${name}.listen-address=127.0.0.1:PORT`;
  if (code !== 'EADDRINUSE') return `cannot listen on ${address} (${code}); choose another address with ${flag}`;
  const service = { prometheus: 'prometheus', alertmanager: 'prometheus-alertmanager' }[name as string];
  const perhaps = service === undefined ? '' : ` If it is Debian's own service: systemctl stop ${service}.`;
  return `${address} is taken; stop what uses it, or choose another with ${flag}.${perhaps}`;
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
