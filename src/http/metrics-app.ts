import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import { finishPage } from '../metrics/page.ts';
import { inFormat } from '../metrics/render.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { sendUnknownAppliance, unknownApplianceMessage, valuesOf } from './appliance-query.ts';
import { cutConnectionsOnClose } from './cut-connections.ts';
import { negotiate } from './negotiate.ts';
import { createSendPage, defaultLimits } from './send-page.ts';
import { registerReload, reloadPath, type ReloadOutcome } from './reload.ts';
import { registerStatusApi } from './status-api.ts';
import type { ShardInfo } from './status-page/exporter-panel.ts';
import { registerStatusPage } from './status-page/status-page.ts';
import { createProcessMonitor } from './status-page/process-statistics.ts';
import { createWebAccess, type WebAccess } from './web-access.ts';
import { openToAll } from './web-policy.ts';

/**
 * Time for requests under way after the server began to close; connections still open then are cut.
 */
const closeGraceMs = 1_000;
/** Headers of every answer; caches must not store it. */
const commonHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
const plainText = 'text/plain; charset=utf-8';

export interface MetricsAppParts {
  readonly monitor: Monitor;
  /** Returns the index of the other shard that watches an appliance; undefined if none does. */
  readonly shardWatching: (appliance: string) => number | undefined;
  /** Returns which appliances are watched here; undefined if all are. */
  readonly shard?: (() => ShardInfo | undefined) | undefined;
  readonly self: SelfMetrics;
  readonly build: { readonly version: string };
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration?: boolean | undefined;
  /**
   * Replaces `zlb-exporter` in commands by what users of this installation type; default: no
   * change.
   */
  readonly spoken?: ((text: string) => string) | undefined;
  /** Base URL of the admin listener; undefined while it is off. */
  readonly adminUrl: () => string | undefined;
  /** Undefined if reloading by HTTP is off. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
  readonly log: Logger;
  readonly now: () => number;
  /** Access control, closed with the app; without it, everybody has access. */
  readonly access?: WebAccess;
}

/**
 * Creates the listener for Prometheus and for people. It only reads, except for the reload, if that
 * is enabled.
 */
export function createMetricsApp(parts: MetricsAppParts): FastifyInstance {
  const { monitor, shardWatching, build, isDemonstration = false, reload, log } = parts;
  const { access = createWebAccess({ policy: openToAll, log }) } = parts;
  const app = createApp(access);
  cutConnectionsOnClose(app, closeGraceMs);
  app.addHook('onClose', () => access.close());
  rejectWrongMethods(app);
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(commonHeaders);
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

  registerMetrics(app, parts);
  registerServiceDiscovery(app, monitor);
  registerPeoplePages(app, parts);
  registerStatusApi(app, { monitor, shardWatching, build, isDemonstration });
  registerHealth(app, monitor);
  registerReload(app, reload);
  return app;
}

function createApp(access: WebAccess): FastifyInstance {
  const app = fastify({
    logger: false,
    serverFactory: (handler) => access.serve(handler),
    // The server of `access` has answered already.
    clientErrorHandler: () => undefined,
    routerOptions: { maxParamLength: 256 },
    // Called before routing, so that no hook runs either.
    frameworkErrors(_error, _request, reply) {
      reply.raw
        .writeHead(400, { 'content-type': plainText, ...commonHeaders })
        .end('The path has a malformed percent-encoding.\n');
    },
  });
  // No path takes a body, but `curl -d ''` sends a content type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    body.resume().once('end', () => done(null));
  });
  return app;
}

/**
 * Answers 405 for a known path with another method; must be called before the routes are
 * registered.
 */
function rejectWrongMethods(app: FastifyInstance): void {
  const paths = new Set<string>();
  const allowedAt = (path: string) => {
    if (path === reloadPath) return { methods: 'POST', sentence: 'Only POST is allowed here.\n' };
    return paths.has(path) ? { methods: 'GET, HEAD', sentence: 'Only GET and HEAD are allowed here.\n' } : undefined;
  };
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  // On request: a body of an unknown type would be refused before the handler runs.
  app.addHook('onRequest', (request, reply, done) => {
    const allowed = request.is404 ? allowedAt(request.url.replace(/\?.*/s, '')) : undefined;
    if (allowed === undefined) done();
    else void reply.code(405).header('allow', allowed.methods).type(plainText).send(allowed.sentence);
  });
}

function registerMetrics(app: FastifyInstance, { monitor, shardWatching, self, log }: MetricsAppParts): void {
  const sendPage = createSendPage(log, defaultLimits);

  /**
   * Sends the exposition of all appliances, or of those named; `end` is classic text that follows
   * it.
   */
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

  app.get('/metrics', async (request, reply) => {
    const names = valuesOf(request, 'appliance');
    const unknown = names.find((name) => !monitor.watches(name));
    if (unknown !== undefined) return sendUnknownAppliance(reply, shardWatching(unknown));
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
}

function registerServiceDiscovery(app: FastifyInstance, monitor: Monitor): void {
  app.get('/sd', async (request, reply) => {
    // Prometheus can scrape the address under which it reached us.
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
}

function registerPeoplePages(app: FastifyInstance, parts: MetricsAppParts): void {
  const { monitor, shardWatching, shard, self, build, adminUrl, now } = parts;
  const { isDemonstration = false, spoken = (text: string) => text } = parts;
  const processMonitor = createProcessMonitor(now);
  app.addHook('onClose', async () => processMonitor.close());
  registerStatusPage(app, {
    describe: () => monitor.describe(),
    unknownApplianceMessage: (appliance) => unknownApplianceMessage(shardWatching(appliance)),
    exporter: () => ({
      version: build.version,
      isDemonstration,
      ready: monitor.ready,
      processStatistics: processMonitor.read(),
      configuration: self.configuration,
      adminUrl: adminUrl(),
      shard: shard?.(),
    }),
    spoken,
    now,
  });
}

function registerHealth(app: FastifyInstance, monitor: Monitor): void {
  app.get('/-/healthy', (_request, reply) => reply.type(plainText).send('Healthy.\n'));
  app.get('/-/ready', (_request, reply) => {
    const ready = monitor.ready;
    return reply
      .code(ready ? 200 : 503)
      .type(plainText)
      .send(ready ? 'Ready.\n' : 'Not ready: some collectors have not run yet.\n');
  });
}
