import type { FastifyInstance } from 'fastify';

/** Ends what is still open so long after closing began: a client that sends nothing, or reads nothing, would hold the process up. */
export function cutConnectionsOnClose(app: FastifyInstance, graceMs: number): void {
  app.addHook('preClose', async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
    app.server.once('close', () => clearTimeout(timer));
  });
}
