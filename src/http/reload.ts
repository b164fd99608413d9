import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What came of taking in a configuration; either text is for people, and holds no secret. */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly because: string };

export const reloadPath = '/-/reload';
const plainText = 'text/plain; charset=utf-8';

/** `POST /-/reload`, as Prometheus has it; without `reload` it says how it is switched on. */
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

/** No page of ours asks for it; one that passes its own name off for ours (DNS rebinding) cannot hide that it is a page. */
function isFromWebPage({ origin, 'sec-fetch-site': site }: FastifyRequest['headers']): boolean {
  return origin !== undefined || site !== undefined;
}
