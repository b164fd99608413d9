import { createServer, type Server } from 'node:net';

const lowest = 10_000;
const pairs = 10_000;

/**
 * Returns a port of 127.0.0.1 for a program that starts in a moment. Nobody else is given it until
 * this process ends, in whatever run: ports come in pairs, and who listens on the second one has
 * the first one. The system gives out higher ports, so no server that listens on any port takes it.
 */
export async function freePort(): Promise<number> {
  const port = lowest + 2 * Math.floor(Math.random() * pairs);
  const claim = createServer().unref();
  if (!(await listens(claim, port + 1))) return await freePort();
  const trial = createServer();
  const isFree = await listens(trial, port);
  trial.close();
  return isFree ? port : await freePort();
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
}
