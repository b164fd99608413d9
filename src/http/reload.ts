import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The result of a reload; both texts are for people and contain no secret. */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly because: string };

export const reloadPath = '/-/reload';
const plainText = 'text/plain; charset=utf-8';

/**
 * Registers `POST /-/reload`, as in Prometheus; without `reload` it answers how to switch it on.
 */
export function registerReload(app: FastifyInstance, reload: (() => Promise<ReloadOutcome>) | undefined): void {
  app.post(reloadPath, async ({ headers }, reply) => {
    reply.type(plainText);
    if (!reload)
      return reply.code(403).send('Reloading by HTTP is off. Start with --web.enable-lifecycle, or send SIGHUP.\n');
    if (isFromWebPage(headers))
      return reply
        .code(403)
        .send('The request comes from a web page; no page may have the configuration read again.\n');
    const outcome = await reload();
    return outcome.ok
      ? reply.send(`Reloaded: ${outcome.summary}.\n`)
      : reply.code(400).send(`Not reloaded, what was in force stays so.\n${outcome.because}\n`);
  });
}

/**
 * Returns true for a request of a web page. Ours send none; after DNS rebinding a foreign page
 * still sends these headers.
 */
function isFromWebPage({ origin, 'sec-fetch-site': site }: FastifyRequest['headers']): boolean {
  return origin !== undefined || site !== undefined;
}
