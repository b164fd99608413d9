// Serves the HTML pages: the fleet, an appliance, a farm, a search, the runbooks. A request goes
// through view.ts (parses the query), src/state/health.ts (finds the problems), view-cache.ts (two
// caches of rendered pages, owned here), fleet-page.ts or appliance-page.ts (the content),
// farm-details.ts, and document.ts (the frame). Everything is rendered from the status that the
// pollers have, so a page causes no calls to appliances.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { acceptsGzip, closedSignal } from '../../lib/http.ts';
import type { History } from '../../history/history.ts';
import type { ApplianceStatus, FleetStatus, LastMinuteOf } from '../../state/status.ts';
import { uptimePanel, findUptime } from './uptime-panel.ts';
import { appliancePage, certificatePage, farmPage } from './appliance-page.ts';
import { contentPolicy, digestOf, loadAssets, loadRunbooks } from '../assets.ts';
import { type PageContent, demonstrationBanner, documentOf, staticDocument } from './document.ts';
import { type ExporterInfo, exporterProblem } from './exporter-panel.ts';
import { fleetPage, groupPage, groupsPage, fleetListPage } from './fleet-page.ts';
import { html, type Markup, markupText } from '../html.ts';
import { type EventFilter, queryOf, readView, type View } from './view.ts';
import { compareProblems, type Problem } from '../../state/problem.ts';
import { createViewCache, type RenderedPage } from './view-cache.ts';
import { readRunbookLabels, runbooksFor } from '../runbooks/runbooks.ts';
import { search, searchPage } from './search.ts';
import { maxFound } from '../../history/event.ts';
import { createFindEvents, findCauses, type FindEvents } from './find-events.ts';
import { eventsPage, eventsPanel } from './events-panel.ts';
import type { TwinWatch } from '../../history/twin-watch.ts';
import { twinPanel } from './twin-panel.ts';
import { type ApplianceHealth, createHealthSummary, type HealthSummary } from '../../state/health.ts';
import { overallStatusOf } from './overall-status.ts';

export interface StatusPageParts {
  readonly fleetStatus: () => FleetStatus;
  /** Returns the message for an appliance that is not watched here. */
  readonly unknownApplianceMessage: (appliance: string) => string;
  readonly exporter: () => ExporterInfo;
  /** Replaces `zlb-exporter` in commands by what users of this installation type. */
  readonly withCommandName: (text: string) => string;
  readonly lastMinuteOf: LastMinuteOf;
  readonly history: Pick<History, 'find' | 'timesOf'>;
  readonly twinOf: TwinWatch['twinOf'];
  readonly now: () => number;
}

interface PageParts extends StatusPageParts {
  readonly findEvents: FindEvents;
}

/** The most events in a panel, and above runbooks. */
const maxInPanel = 20;
const maxAboveRunbooks = 10;

const pageHeaders = { 'content-security-policy': contentPolicy("'self'"), 'referrer-policy': 'no-referrer' } as const;

/** Registers `/`, whose query chooses the page, and the runbooks. */
export function registerStatusPage(app: FastifyInstance, given: StatusPageParts): void {
  const parts = { ...given, findEvents: createFindEvents(given.history, given.now) };
  const { fleetStatus, exporter, withCommandName, lastMinuteOf, now } = parts;
  const assets = loadAssets();
  for (const { name, type, bytes } of assets)
    app.get(`/assets/${name}`, (_request, reply) => reply.type(type).send(bytes));
  registerRunbooks(app, parts);

  const { version, isDemonstration } = exporter();
  const build = `${version}-${digestOf(assets)}${isDemonstration ? '-demonstration' : ''}`;
  const banner = isDemonstration ? demonstrationBanner(withCommandName('zlb-exporter init 192.0.2.10')) : undefined;
  const summarize = createHealthSummary({ fleetStatus, lastMinuteOf, now });
  const views = createViewCache();
  /** Separate, so that pages of the fleet do not wait for searches, which anybody may send. */
  const fleetViews = createViewCache();

  app.get('/', async (request, reply) => {
    const view = readView(request.query as Readonly<Record<string, unknown>>);
    const summary = await summarize();
    const viewOf = view.kind === 'fleet' ? fleetViews : views;
    const closed = closedSignal(reply.raw);
    const page = await viewOf(summary, { key: queryOf(view), closed, render: () => render(view, summary) });
    if (!page) return reply.hijack();
    reply.headers({ ...pageHeaders, etag: page.etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === page.etag) return reply.code(304).send();
    reply.code(page.status).type('text/html; charset=utf-8');
    if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(page.bytes);
    return reply.header('content-encoding', 'gzip').send(await page.gzipped());
  });

  async function render(view: View, summary: HealthSummary): Promise<RenderedPage> {
    // Summary, sorting and rendering take a few milliseconds each for a thousand appliances.
    await yieldToEventLoop();
    const content = await contentOf(view, summary, parts);
    const frame = { search: view.kind === 'search' ? view.q : '', takenAtMs: summary.takenAtMs, build, banner };
    return {
      status: content.status ?? 200,
      text: documentOf(content, frame),
      etagInput: `${build}\n${content.title}\n${markupText(content.main)}`,
    };
  }
}

function registerRunbooks(
  app: FastifyInstance,
  { withCommandName, exporter, fleetStatus, findEvents }: PageParts,
): void {
  let loading: Promise<string> | undefined;
  app.get('/runbooks', async (request, reply) => {
    const runbooks = await (loading ??= loadRunbooks().then(withCommandName));
    const labels = readRunbookLabels(request.query as Readonly<Record<string, unknown>>);
    const status = fleetStatus().appliances.find(({ name }) => name === labels.appliance);
    const { adminUrl: gateway, configuration } = exporter();
    const addresses = {
      exporter: `${request.protocol}://${request.host}`,
      gateway,
      appliance: status?.url,
      configuration: configuration.file,
    };
    const { appliance, farm } = labels;
    const filter = { appliance, farm, since: '6h' };
    const events = status && (await findCauses(findEvents, filter, maxAboveRunbooks, status));
    const when = ` on this ${farm === undefined ? 'appliance' : 'farm'} in the last 6 hours`;
    const page = staticDocument(
      'Runbooks · zlb-exporter',
      html`${status && eventsPanel(filter, events, gateway, when)}${runbooksFor(runbooks, labels, addresses)}`,
    );
    return reply.headers(pageHeaders).type('text/html; charset=utf-8').send(page);
  });
  // For links that cannot write a name in small letters, such as those of a dashboard.
  app.get('/runbooks/:alert', (request, reply) => {
    const { alert = '' } = request.params as Readonly<Record<string, string>>;
    const fragment = /^Zlb[A-Za-z]+$/.test(alert) ? `#${alert.toLowerCase()}` : '';
    return reply.redirect(`../runbooks${queryIn(request)}${fragment}`, 302);
  });
  // Shipped alerts link to this path on the host of the operator; a browser keeps the fragment.
  app.get('/docs/operations.md', (request, reply) => reply.redirect(`../runbooks${queryIn(request)}`, 308));
}

function queryIn({ url }: FastifyRequest): string {
  return /\?.*/.exec(url)?.[0] ?? '';
}

async function newestEventsPanel(parts: PageParts, filter: EventFilter, status?: ApplianceStatus): Promise<Markup> {
  const events = await parts.findEvents(filter, maxInPanel, { status });
  return eventsPanel(filter, events, parts.exporter().adminUrl);
}

async function contentOf(view: View, summary: HealthSummary, parts: PageParts): Promise<PageContent> {
  const exporter = parts.exporter();
  const problemOfExporter = exporterProblem(exporter);
  const problems = problemOfExporter
    ? [...summary.problems, problemOfExporter].toSorted(compareProblems)
    : summary.problems;
  const overallStatus = overallStatusOf(summary.perAppliance, problems, exporter.shard);
  const head = { level: overallStatus.level, title: titleOf(problems, 'zlb-exporter') };
  switch (view.kind) {
    case 'fleet': {
      const events = await newestEventsPanel(parts, {});
      return { ...head, main: fleetPage(summary, problems, overallStatus, exporter, events) };
    }
    case 'events': {
      const health = summary.perAppliance.find(({ status }) => status.name === view.appliance);
      const events = await parts.findEvents(view, maxFound, { status: health?.status });
      return { ...head, main: eventsPage(view, events, exporter.adminUrl) };
    }
    case 'list':
      return { ...head, main: fleetListPage(view, summary, problems) };
    case 'groups':
      return { ...head, main: groupsPage(view, summary) };
    case 'group':
      return { ...head, main: groupPage(view, summary) };
    case 'search': {
      const found = await search(summary, view.q);
      return { ...head, main: searchPage(view.q, found, summary) };
    }
    case 'appliance':
    case 'farm':
    case 'certificate': {
      const health = summary.perAppliance.find(({ status }) => status.name === view.appliance);
      if (!health) return notWatchedContent(parts.unknownApplianceMessage(view.appliance));
      return {
        level: health.level,
        title: titleOf(health.problems, `${view.appliance} · zlb-exporter`),
        main: await contentOfAppliance(view, health, summary, parts),
      };
    }
  }
}

async function contentOfAppliance(
  view: Extract<View, { readonly kind: 'appliance' | 'farm' | 'certificate' }>,
  health: ApplianceHealth,
  summary: HealthSummary,
  parts: PageParts,
): Promise<Markup> {
  if (view.kind === 'certificate') return certificatePage(health, view.certificate, summary.takenAtMs);
  const { appliance } = view;
  if (view.kind === 'appliance') {
    const panels = [await newestEventsPanel(parts, { appliance }), twinPanel(appliance, parts.twinOf(appliance))];
    return appliancePage(health, view, summary, panels);
  }
  const { farm } = view;
  const withCommandName = parts.exporter().adminUrl === undefined ? undefined : parts.withCommandName;
  const events = await newestEventsPanel(parts, { appliance, farm }, health.status);
  const uptime = uptimePanel(await findUptime(parts.history, appliance, farm), summary.takenAtMs);
  return html`${farmPage(health, farm, summary, withCommandName)}${uptime}${events}`;
}

function notWatchedContent(message: string): PageContent {
  const main = html`<h1 id="overall-status">Not watched here</h1><p>${message} <a href="./">All appliances</a></p>`;
  return { level: 'unknown', title: 'Not watched here · zlb-exporter', main, status: 404 };
}

/** Returns the title of the tab, which begins with the number of problems. */
function titleOf(problems: readonly Problem[], name: string): string {
  return problems.length === 0 ? name : `(${problems.length}) ${name}`;
}
