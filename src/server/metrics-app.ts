import { finished } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { History } from '../history/history.ts';
import type { TwinWatch } from '../history/twin-watch.ts';
import type { Exposition, Representation } from '../metrics/exposition.ts';
import { inFormat } from '../metrics/render.ts';
import type { Result } from '../lib/check.ts';
import { closedSignal } from '../lib/http.ts';
import { createSlots } from '../lib/slots.ts';
import { decodePercent } from '../lib/text.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { Fleet } from '../scheduler/fleet.ts';
import { registerHistoryApi } from './history-api.ts';
import { ApplianceQuery, registerStatusApi, sendUnknownAppliance, unknownApplianceMessage } from './status-api.ts';
import { type SchemaTypes, createMethodFinder, pathOf } from './create-app.ts';
import { expositionTypes, negotiate } from './negotiate.ts';
import { limitUnfinished, TooManyReadersError, type UnfinishedResponses } from './unfinished-responses.ts';
import type { LastMinuteOf } from '../state/status.ts';
import { createProcessMonitor } from './process-monitor.ts';
import type { ShardInfo } from '../pages/status/overall-status.ts';
import { registerStatusPage } from '../pages/status/status-page.ts';
import { plainText, type WebAccess } from './web-access.ts';

export interface MetricsAppParts {
  readonly fleet: Fleet;
  /** Returns the index of the other shard that watches an appliance; undefined if none does. */
  readonly shardWatching: (appliance: string) => number | undefined;
  /** Returns which appliances are watched here; undefined if all are. */
  readonly shard: () => ShardInfo | undefined;
  readonly self: SelfMetrics;
  readonly build: { readonly version: string };
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration: boolean;
  /** Replaces `zlb-exporter` in commands by what users of this installation type. */
  readonly withCommandName: (text: string) => string;
  /** Base URL of the admin listener; undefined while it is off. */
  readonly adminUrl: () => string | undefined;
  /**
   * Resolves to what changed, or to why nothing did; both are for people and contain no secret.
   * Undefined if reloading by HTTP is off.
   */
  readonly reload?: (() => Promise<Result<string>>) | undefined;
  readonly lastMinuteOf: LastMinuteOf;
  readonly history: Pick<History, 'find' | 'findText' | 'timesOf'>;
  readonly twinOf: TwinWatch['twinOf'];
  readonly log: Logger;
  readonly now: () => number;
  /** Access control; the routes are added to its app. */
  readonly access: WebAccess;
}

/**
 * Creates the listener for Prometheus and for people. It only reads, except for the reload, if that
 * is enabled.
 */
export function createMetricsApp(parts: MetricsAppParts): FastifyInstance {
  const { fleet, reload, log, adminUrl } = parts;
  const { app } = parts.access;
  const responses = limitUnfinished(app, log);
  ignoreBodies(app);
  rejectWrongMethods(app);
  app.setNotFoundHandler((request, reply) => {
    const path = decodePercent(pathOf(request));
    return reply
      .code(path === undefined ? 400 : 404)
      .type(plainText)
      .send(path === undefined ? 'The path has a malformed percent-encoding.\n' : notFoundText(path, adminUrl()));
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    // Closed: further requests may wait on the connection.
    if (error instanceof TooManyReadersError)
      return reply.code(503).headers({ 'retry-after': '5', connection: 'close' }).type(plainText).send(error.message);
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error, path: request.routeOptions.url }, 'request failed');
    return reply
      .code(status)
      .type(plainText)
      .send(status >= 500 ? 'Internal error, see the log.\n' : `${error.message}\n`);
  });

  registerMetrics(app, { ...parts, responses });
  registerServiceDiscovery(app, fleet);
  registerPages(app, parts);
  registerStatusApi(app, { ...parts, responses });
  registerHistoryApi(app, parts);
  registerHealth(app, fleet);
  registerReload(app, reload);
  return app;
}

/** Returns where to look instead: people look for the pages of the gateway here. */
function notFoundText(path: string, adminUrl: string | undefined): string {
  const page = ['/docs', '/console'].find((each) => path === each || path.startsWith(`${each}/`));
  if (page === undefined) return 'Not found. Try / or /metrics.\n';
  if (adminUrl === undefined) return `Not found. ${page} is a page of the gateway, which is off.\n`;
  return `Not found. ${page} is a page of the gateway: ${adminUrl}${page}\n`;
}

function ignoreBodies(app: FastifyInstance): void {
  // No path takes a body, but `curl -d ''` sends a content type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    finished(body.resume(), (error) => done(error ?? null));
  });
}

/**
 * Answers 405 for a known path with another method; must be called before the routes are
 * registered.
 */
function rejectWrongMethods(app: FastifyInstance): void {
  const methodsOf = createMethodFinder(app);
  // On request: a body of an unknown type would be refused before the handler runs.
  app.addHook('onRequest', (request, reply, done) => {
    const methods = request.is404 ? methodsOf(pathOf(request)) : [];
    if (methods.length === 0) done();
    else
      void reply
        .code(405)
        .header('allow', methods.join(', '))
        .type(plainText)
        .send(`Only ${methods.join(' and ')} ${methods.length > 1 ? 'are' : 'is'} allowed here.\n`);
  });
}

/**
 * `labels=target` is for targets of `/sd`, which have the labels of the configuration already:
 * Prometheus would rename those of the metric to `exported_…`.
 */
const ProbeQuery = Type.Object({ target: Type.String(), labels: Type.Optional(Type.Literal('target')) });

interface MetricsParts extends MetricsAppParts {
  readonly responses: UnfinishedResponses;
}

interface ExpositionRequest {
  /** The appliances; all if empty. */
  readonly names: readonly string[];
  readonly withoutConfiguredLabels?: boolean;
}

/** The most pages of named appliances that are rendered at once: each takes more than a megabyte. */
export const maxExpositionsAtOnce = 4;

function registerMetrics(app: FastifyInstance, { fleet, shardWatching, self, responses }: MetricsParts): void {
  const inExpositionSlot = createSlots(maxExpositionsAtOnce);

  /** Makes the exposition of all appliances, which readers share, or that of those named. */
  async function expositionOf(
    form: Representation,
    { names, withoutConfiguredLabels = false }: ExpositionRequest,
    { raw }: FastifyReply,
  ): Promise<Exposition | undefined> {
    if (names.length === 0) return await fleet.exposition(form);
    const left = closedSignal(raw);
    try {
      return await inExpositionSlot(left, () => fleet.exposition(form, new Set(names), withoutConfiguredLabels));
    } catch (error) {
      if (left.aborted) return undefined;
      throw error;
    }
  }

  /**
   * Sends the exposition of all appliances, or of those named; `end` is classic text that follows
   * it.
   */
  async function sendExposition(
    request: FastifyRequest,
    reply: FastifyReply,
    { end, ...requested }: ExpositionRequest & { readonly end: string },
  ): Promise<FastifyReply> {
    responses.assertRoom(request);
    const form = negotiate(request.headers);
    const exposition = await expositionOf(form, requested, reply);
    // The reader left while it waited.
    if (!exposition) return reply.hijack();
    const tail = inFormat(end, form.format) + (form.format === 'openmetrics' ? '# EOF\n' : '');
    reply.headers({ 'content-type': expositionTypes[form.format], vary: 'accept, accept-encoding' });
    if (form.encoding !== 'identity') reply.header('content-encoding', form.encoding);
    return responses.send(request, reply, { contents: exposition.finish(tail), isZstd: form.encoding === 'zstd' });
  }

  const routes = app.withTypeProvider<SchemaTypes>();
  routes.get('/metrics', { schema: { querystring: ApplianceQuery } }, async (request, reply) => {
    const names = request.query.appliance;
    const unknown = names.find((name) => !fleet.watches(name));
    if (unknown !== undefined) return sendUnknownAppliance(reply, shardWatching(unknown));
    return await sendExposition(request, reply, { names, end: await self.text() });
  });

  routes.get('/probe', { schema: { querystring: ProbeQuery }, attachValidation: true }, async (request, reply) => {
    if (request.validationError) {
      return reply
        .code(400)
        .type(plainText)
        .send('Name one appliance: /probe?target=NAME, with a name from the configuration.\n');
    }
    const { target, labels } = request.query;
    if (!fleet.watches(target)) return sendUnknownAppliance(reply, shardWatching(target));
    return await sendExposition(request, reply, {
      names: [target],
      end: '',
      withoutConfiguredLabels: labels === 'target',
    });
  });
}

function registerServiceDiscovery(app: FastifyInstance, fleet: Fleet): void {
  app.get('/sd', async (request, reply) => {
    // Prometheus can scrape the address under which it reached us.
    const address = request.headers.host ?? '';
    // A long one would come back twice for each appliance.
    if (!/^[\w.:[\]-]{1,261}$/.test(address))
      return reply.code(400).type(plainText).send('The Host header names no address.\n');
    return fleet.appliances.map(({ name, labels }) => ({
      targets: [address],
      labels: {
        ...labels,
        __metrics_path__: '/probe',
        __param_target: name,
        __param_labels: 'target',
        __scheme__: request.protocol,
        instance: name,
        exporter: address,
      },
    }));
  });
}

function registerPages(app: FastifyInstance, parts: MetricsAppParts): void {
  const { fleet, shardWatching, shard, self, build, isDemonstration, withCommandName, adminUrl, now } = parts;
  const processMonitor = createProcessMonitor(now);
  app.addHook('onClose', async () => processMonitor.close());
  registerStatusPage(app, {
    fleetStatus: () => fleet.status(),
    unknownApplianceMessage: (appliance) => unknownApplianceMessage(shardWatching(appliance)),
    exporter: () => ({
      version: build.version,
      isDemonstration,
      isReady: fleet.isReady,
      processStatistics: processMonitor.read(),
      configuration: self.configuration,
      adminUrl: adminUrl(),
      shard: shard(),
    }),
    withCommandName,
    lastMinuteOf: parts.lastMinuteOf,
    history: parts.history,
    twinOf: parts.twinOf,
    now,
  });
}

function registerHealth(app: FastifyInstance, fleet: Fleet): void {
  app.get('/-/healthy', (_request, reply) => reply.type(plainText).send('Healthy.\n'));
  app.get('/-/ready', (_request, reply) => {
    const { isReady } = fleet;
    return reply
      .code(isReady ? 200 : 503)
      .type(plainText)
      .send(isReady ? 'Ready.\n' : 'Not ready: some collectors have not run yet.\n');
  });
}

/**
 * Registers `POST /-/reload`, as in Prometheus; without `reload` it answers how to switch it on.
 */
function registerReload(app: FastifyInstance, reload: MetricsAppParts['reload']): void {
  app.post('/-/reload', async ({ headers }, reply) => {
    reply.type(plainText);
    if (!reload)
      return reply.code(403).send('Reloading by HTTP is off. Start with --web.enable-lifecycle, or send SIGHUP.\n');
    if (isFromWebPage(headers))
      return reply.code(403).send('The request comes from a web page; web pages may not reload the configuration.\n');
    const outcome = await reload();
    return 'value' in outcome
      ? reply.send(`Reloaded: ${outcome.value}.\n`)
      : reply.code(400).send(`Not reloaded, the previous configuration stays in force.\n${outcome.error}\n`);
  });
}

/**
 * Returns true for a request of a web page. Ours send none; after DNS rebinding a foreign page
 * still sends these headers.
 */
function isFromWebPage({ origin, 'sec-fetch-site': site }: FastifyRequest['headers']): boolean {
  return origin !== undefined || site !== undefined;
}
