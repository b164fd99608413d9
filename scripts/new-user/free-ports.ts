import { createServer } from 'node:net';
import { listeners, parseStackFlags } from '../stack/flags.ts';

/** The command as it is where nobody uses its ports; else with the flags that it names itself, for those that are taken. */
export async function onFreePorts(command: string): Promise<string> {
  const { addresses } = parseStackFlags([]);
  const flags: string[] = [];
  for (const name of listeners) {
    const [host = '', port = ''] = addresses[name].split(':');
    if ((await listenOnce(host, Number(port))) !== undefined) continue;
    const free = await listenOnce(host, 0);
    flags.push(`--${name}.listen-address=${host}:${free}`);
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
