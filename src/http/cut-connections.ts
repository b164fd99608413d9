import type { FastifyInstance } from 'fastify';

/**
 * Closes all connections `graceMs` after closing began: a silent client would keep the process
 * alive.
 */
export function cutConnectionsOnClose(app: FastifyInstance, graceMs: number): void {
  app.addHook('preClose', async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
    app.server.once('close', () => clearTimeout(timer));
  });
}
