import { createServer } from 'node:net';
import { listeners, parseStackFlags } from '../stack/flags.ts';

/** The command with its own flags for other ports: for those that are taken, or for `all` where more may be at any moment. */
export async function onFreePorts(command: string, which: 'all' | 'taken'): Promise<string> {
  const { addresses } = parseStackFlags([]);
  const flags: string[] = [];
  for (const name of listeners) {
    const [host = '', port = ''] = addresses[name].split(':');
    if (which === 'taken' && (await listenOnce(host, Number(port))) !== undefined) continue;
    flags.push(`--${name}.listen-address=${host}:${await listenOnce(host, 0)}`);
  }
  return flags.length === 0 ? command : `${command} -- ${flags.join(' ')}`;
}

/** Resolves to the port that could be listened on, undefined when it is taken. */
function listenOnce(host: string, port: number): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
