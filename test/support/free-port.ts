import { createServer } from 'node:net';

/**
 * Returns a port of 127.0.0.1 that nobody had a moment ago, below those that the system gives out:
 * servers that listen on any port must not get this one meanwhile.
 */
export async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return await freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
