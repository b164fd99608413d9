import type { FastifyInstance } from 'fastify';
import { isFromElsewhere } from './same-origin.ts';

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
    if (isFromElsewhere(headers)) return reply.code(403).send('The request comes from a web page of another origin.\n');
    const outcome = await reload();
    return outcome.ok
      ? reply.send(`Reloaded: ${outcome.summary}.\n`)
      : reply.code(400).send(`Not reloaded, what was in force stays so.\n${outcome.because}\n`);
  });
}
