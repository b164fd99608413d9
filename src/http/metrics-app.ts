import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { finishPage } from '../metrics/page.ts';
import { inFormat } from '../metrics/render.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { sendUnknownAppliance, unknownApplianceMessage, valuesOf } from './appliance-query.ts';
import { cutConnectionsOnClose } from './cut-connections.ts';
import { negotiate } from './negotiate.ts';
import { createSendPage, usualLimits } from './send-page.ts';
import { registerReload, reloadPath, type ReloadOutcome } from './reload.ts';
import { registerStatusApi } from './status-api.ts';
import type { ShardInfo } from './status-page/exporter-panel.ts';
import { registerStatusPage } from './status-page/status-page.ts';
import { createThermometer } from './status-page/vital-signs.ts';
import { createWebAccess, type WebAccess } from './web-access.ts';
import { openToAll } from './web-policy.ts';

/** How long requests under way may take once the server closes; what is open then is cut. */
const closeGraceMs = 1_000;
/** What is true now must not be told again later, by a cache. */
const headersOfAll = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
const plainText = 'text/plain; charset=utf-8';

export interface MetricsAppParts {
  readonly monitor: Monitor;
  /** The index of the other shard that watches an appliance; undefined when none does. */
  readonly shardWatching: (appliance: string) => number | undefined;
  /** What of the appliances is watched here; undefined where that is all. */
  readonly shard?: (() => ShardInfo | undefined) | undefined;
  readonly self: SelfMetrics;
  readonly build: { readonly version: string };
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration?: boolean | undefined;
  /** Puts what can be typed here in place of `zlb-exporter` in the commands of a text; leaves it where it is undefined. */
  readonly spoken?: ((text: string) => string) | undefined;
  /** Base URL of the admin listener; undefined while it is off. */
  readonly adminUrl: () => string | undefined;
  /** Undefined where reloading by HTTP is off. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
  readonly log: Logger;
  readonly now: () => number;
  /** Who gets to it; closed with it. Everybody without it. */
  readonly access?: WebAccess;
}

/** The listener for Prometheus and for people. It only reads, but for the configuration, where that is switched on. */
export function createMetricsApp(parts: MetricsAppParts): FastifyInstance {
  const { monitor, shardWatching, shard, self, build, adminUrl, reload, log, now } = parts;
  const { isDemonstration = false, spoken = (text: string) => text } = parts;
  const { access = createWebAccess({ policy: openToAll, log }) } = parts;
  const app = fastify({
    logger: false,
    serverFactory: (handler) => access.serve(handler),
    // The server beneath has answered.
    clientErrorHandler: () => undefined,
    routerOptions: { maxParamLength: 256 },
    // Before there is a route, so that no hook runs either.
    frameworkErrors(_error, _request, reply) {
      reply.raw
        .writeHead(400, { 'content-type': plainText, ...headersOfAll })
        .end('The path has a malformed percent-encoding.\n');
    },
  });
  const sendPage = createSendPage(log, usualLimits);
  const thermometer = createThermometer(now);
  const paths = new Set<string>();

  /** What a path takes that has a route for something else. */
  function allowedAt(path: string) {
    if (path === reloadPath) return { methods: 'POST', inWords: 'Only POST is allowed here.\n' };
    return paths.has(path) ? { methods: 'GET, HEAD', inWords: 'Only GET and HEAD are allowed here.\n' } : undefined;
  }

  /** Sends the page of all appliances, or of those named; `end` is classic text that follows it. */
  async function sendWith(
    request: FastifyRequest,
    reply: FastifyReply,
    { names, end }: { readonly names: readonly string[]; readonly end: string },
  ): Promise<FastifyReply> {
    const form = negotiate(request.headers);
    const page = await monitor.page(form, names.length > 0 ? new Set(names) : undefined);
    const tail = inFormat(end, form.format) + (form.format === 'openmetrics' ? '# EOF\n' : '');
    return sendPage(request, reply, { form, contents: finishPage(page, form.encoding, tail) });
  }

  cutConnectionsOnClose(app, closeGraceMs);
  app.addHook('onClose', () => {
    thermometer.close();
    return access.close();
  });
  // No request says anything in its body; `curl -d ''` names a type all the same.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    body.resume().once('end', () => done(null));
  });
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  // Before anything is made of the body, whose type may be none.
  app.addHook('onRequest', (request, reply, done) => {
    const allowed = request.is404 ? allowedAt(request.url.replace(/\?.*/s, '')) : undefined;
    if (allowed === undefined) done();
    else void reply.code(405).header('allow', allowed.methods).type(plainText).send(allowed.inWords);
  });
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(headersOfAll);
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).type(plainText).send('Not found. Try / or /metrics.\n'));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error, path: request.routeOptions.url }, 'request failed');
    return reply
      .code(status)
      .type(plainText)
      .send(status >= 500 ? 'Internal error, see the log.\n' : `${error.message}\n`);
  });

  app.get('/metrics', async (request, reply) => {
    const names = valuesOf(request, 'appliance');
    const stranger = names.find((name) => !monitor.watches(name));
    if (stranger !== undefined) return sendUnknownAppliance(reply, shardWatching(stranger));
    return await sendWith(request, reply, { names, end: await self.text() });
  });

  app.get('/probe', async (request, reply) => {
    const [target, ...more] = valuesOf(request, 'target');
    if (target === undefined || more.length > 0) {
      return reply
        .code(400)
        .type(plainText)
        .send('Name one appliance: /probe?target=NAME, with a name from the configuration.\n');
    }
    if (!monitor.watches(target)) return sendUnknownAppliance(reply, shardWatching(target));
    return await sendWith(request, reply, { names: [target], end: '' });
  });

  app.get('/sd', async (request, reply) => {
    // The address under which Prometheus reached us is the one that it can scrape.
    const address = request.headers.host ?? '';
    if (!/^[\w.:[\]-]+$/.test(address))
      return reply.code(400).type(plainText).send('The Host header names no address.\n');
    return monitor.appliances.map(({ name, labels }) => ({
      targets: [address],
      labels: {
        ...labels,
        __metrics_path__: '/probe',
        __param_target: name,
        __scheme__: request.protocol,
        instance: name,
      },
    }));
  });

  registerStatusPage(app, {
    describe: () => monitor.describe(),
    strangerInWords: (appliance) => unknownApplianceMessage(shardWatching(appliance)),
    exporter: () => ({
      version: build.version,
      isDemonstration,
      ready: monitor.ready,
      vitalSigns: thermometer.read(),
      configuration: self.configuration,
      adminUrl: adminUrl(),
      shard: shard?.(),
    }),
    spoken,
    now,
  });
  registerStatusApi(app, { monitor, shardWatching, build, isDemonstration });
  app.get('/-/healthy', (_request, reply) => reply.type(plainText).send('Healthy.\n'));
  app.get('/-/ready', (_request, reply) => {
    const ready = monitor.ready;
    return reply
      .code(ready ? 200 : 503)
      .type(plainText)
      .send(ready ? 'Ready.\n' : 'Not ready: some collectors have not had their first turn.\n');
  });
  registerReload(app, reload);
  return app;
}
