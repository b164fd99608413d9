import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Session } from './session.ts';

const patienceMs = 120_000;

/**
 * Opens `npm run stack` as it is written, and again with the flags that it names itself while ports
 * are taken; resolves once all runs.
 */
export async function startStack(command: string, open: (line: string) => Session): Promise<Session> {
  const flags: string[] = [];
  for (;;) {
    const session = open(flags.length === 0 ? command : `${command} -- ${flags.join(' ')}`);
    const [seen] = await session.shows(/^Notifications$|choose another: npm run stack/m, patienceMs);
    if (seen === 'Notifications') return session;
    await session.ended;
    for (const [, flag] of session.output().matchAll(/npm run stack -- (--\S+)=127\.0\.0\.1:PORT/g))
      flags.push(`${flag}=127.0.0.1:${await freePort()}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
