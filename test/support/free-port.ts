import { createServer } from 'node:net';

const portsOfWorker = 1_000;

/**
 * Returns a port of 127.0.0.1 that nobody had a moment ago, below those that the system gives out:
 * servers that listen on any port must not get this one meanwhile. Each worker has ports of its
 * own, so that no test of another one takes it either.
 */
export async function freePort(): Promise<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % 20;
  const port = 10_000 + worker * portsOfWorker + Math.floor(Math.random() * portsOfWorker);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return await freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
