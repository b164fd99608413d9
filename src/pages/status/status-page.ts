// Serves the pages for people: the fleet, an appliance, a farm, a search, the runbooks. Everything
// is rendered on the server from the status that the pollers have, so a page costs the appliances
// nothing. It owns two caches of rendered pages; viewers of the same page share one rendering. Read
// on in view.ts (the query), fleet-content.ts, appliance-content.ts and document.ts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { acceptsGzip } from '../../lib/accept.ts';
import { closedSignal } from '../../lib/closed-signal.ts';
import type { History } from '../../history/history.ts';
import type { ApplianceStatus, FleetStatus, LastMinuteOf } from '../../state/status.ts';
import { availabilityPanel, findTimes } from './availability.ts';
import { applianceContent, certificateContent, farmContent } from './appliance-content.ts';
import { contentPolicy, digestOf, loadAssets, loadRunbooks } from '../assets.ts';
import { type PageContent, demonstrationBanner, documentOf, quietDocument } from './document.ts';
import { type ExporterFacts, exporterProblem } from './exporter-panel.ts';
import { fleetContent, groupContent, groupsContent, listContent } from './fleet-content.ts';
import { html, type Markup, markupText } from '../html.ts';
import { type EventFilter, queryOf, readView, type View } from './view.ts';
import { compareProblems, type Problem } from '../../state/problem.ts';
import { createViewCache, type Rendered } from './view-cache.ts';
import { readRunbookLabels, runbooksFor } from './runbooks.ts';
import { search, searchContent } from './search.ts';
import { maxFound } from '../../history/event.ts';
import { createFindEvents, findCauses, type FindEvents } from './timeline.ts';
import { changesContent, changesPanel } from './timeline-content.ts';
import type { TwinWatch } from '../../history/twin-watch.ts';
import { twinPanel } from './twin-panel.ts';
import { type ApplianceHealth, createHealthSummary, type HealthSummary } from '../../state/health.ts';
import { overallStatusOf } from './overall-status.ts';

export interface StatusPageParts {
  readonly describe: () => FleetStatus;
  /** Returns the message for an appliance that is not watched here. */
  readonly unknownApplianceMessage: (appliance: string) => string;
  readonly exporter: () => ExporterFacts;
  /** Replaces `zlb-exporter` in commands by what users of this installation type. */
  readonly spoken: (text: string) => string;
  readonly lastMinuteOf: LastMinuteOf;
  readonly history: Pick<History, 'find' | 'timesOf'>;
  readonly twinOf: TwinWatch['twinOf'];
  readonly now: () => number;
}

interface PageParts extends StatusPageParts {
  readonly findEvents: FindEvents;
}

/** Events that are shown beside other things. */
const maxBeside = 20;
const maxAboveRunbooks = 10;

const pageHeaders = { 'content-security-policy': contentPolicy("'self'"), 'referrer-policy': 'no-referrer' } as const;

/**
 * Registers the page for people at `/`: the fleet, an appliance or the result of a search, by its
 * query.
 */
export function registerStatusPage(app: FastifyInstance, given: StatusPageParts): void {
  const parts = { ...given, findEvents: createFindEvents(given.history, given.now) };
  const { describe, exporter, spoken, lastMinuteOf, now } = parts;
  const assets = loadAssets();
  for (const { name, type, bytes } of assets)
    app.get(`/assets/${name}`, (_request, reply) => reply.type(type).send(bytes));
  registerRunbooks(app, parts);

  const { version, isDemonstration } = exporter();
  const build = `${version}-${digestOf(assets)}${isDemonstration ? '-demonstration' : ''}`;
  const banner = isDemonstration ? demonstrationBanner(spoken('zlb-exporter init 192.0.2.10')) : undefined;
  const summarize = createHealthSummary({ describe, lastMinuteOf, now });
  const views = createViewCache();
  /**
   * Separate, so that viewers of the fleet do not wait for searches, which anybody may send without
   * end.
   */
  const fleetViews = createViewCache();

  app.get('/', async (request, reply) => {
    const view = readView(request.query as Readonly<Record<string, unknown>>);
    const summary = await summarize();
    const cached = view.kind === 'fleet' ? fleetViews : views;
    const asked = { key: queryOf(view), left: closedSignal(reply.raw), render: () => render(view, summary) };
    const rendering = await cached(summary, asked);
    if (!rendering) return reply.hijack();
    reply.headers({ ...pageHeaders, etag: rendering.etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === rendering.etag) return reply.code(304).send();
    reply.code(rendering.status).type('text/html; charset=utf-8');
    if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(rendering.bytes);
    return reply.header('content-encoding', 'gzip').send(await rendering.compressed());
  });

  async function render(view: View, summary: HealthSummary): Promise<Rendered> {
    // Summary, sorting and rendering take a few milliseconds each for a thousand appliances.
    await nextTurn();
    const content = await contentOf(view, summary, parts);
    const frame = { search: view.kind === 'search' ? view.q : '', takenAtMs: summary.takenAtMs, build, banner };
    return {
      status: content.status ?? 200,
      text: documentOf(content, frame),
      etagInput: `${build}\n${content.title}\n${markupText(content.main)}`,
    };
  }
}

function registerRunbooks(app: FastifyInstance, { spoken, exporter, describe, findEvents }: PageParts): void {
  let loading: Promise<string> | undefined;
  app.get('/runbooks', async (request, reply) => {
    const runbooks = await (loading ??= loadRunbooks().then(spoken));
    const labels = readRunbookLabels(request.query as Readonly<Record<string, unknown>>);
    const status = describe().appliances.find(({ name }) => name === labels.appliance);
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
    const page = quietDocument(
      'Runbooks · zlb-exporter',
      html`${status && changesPanel(filter, events, gateway, when)}${runbooksFor(runbooks, labels, addresses)}`,
    );
    return reply.headers(pageHeaders).type('text/html; charset=utf-8').send(page);
  });
  // For links that cannot write a name in small letters, such as those of a dashboard.
  app.get('/runbooks/:alert', (request, reply) => {
    const { alert = '' } = request.params as Readonly<Record<string, string>>;
    const query = request.url.indexOf('?');
    const fragment = /^Zlb[A-Za-z]+$/.test(alert) ? `#${alert.toLowerCase()}` : '';
    return reply.redirect(`../runbooks${query === -1 ? '' : request.url.slice(query)}${fragment}`, 302);
  });
  // The path of the shipped alerts' links, below an operator's own host; a browser keeps the
  // fragment.
  app.get('/docs/operations.md', (request, reply) => {
    const query = request.url.indexOf('?');
    return reply.redirect(`../runbooks${query === -1 ? '' : request.url.slice(query)}`, 308);
  });
}

async function newestChanges(parts: PageParts, filter: EventFilter, status?: ApplianceStatus): Promise<Markup> {
  const events = await parts.findEvents(filter, maxBeside, { status });
  return changesPanel(filter, events, parts.exporter().adminUrl);
}

type StatusContent = PageContent & { readonly status?: number };

async function contentOf(view: View, summary: HealthSummary, parts: PageParts): Promise<StatusContent> {
  const facts = parts.exporter();
  const ownProblem = exporterProblem(facts);
  const problems = ownProblem ? [...summary.problems, ownProblem].toSorted(compareProblems) : summary.problems;
  const overallStatus = overallStatusOf(summary.perAppliance, problems, facts.shard);
  const head = { level: overallStatus.level, title: titleOf(problems, 'zlb-exporter') };
  switch (view.kind) {
    case 'fleet': {
      const changes = await newestChanges(parts, {});
      return { ...head, main: fleetContent({ summary, problems, overallStatus, facts, changes }) };
    }
    case 'changes': {
      const health = summary.perAppliance.find(({ status }) => status.name === view.appliance);
      const events = await parts.findEvents(view, maxFound, { status: health?.status });
      return { ...head, main: changesContent(view, events, facts.adminUrl) };
    }
    case 'list':
      return { ...head, main: listContent(view, summary, problems) };
    case 'groups':
      return { ...head, main: groupsContent(view, summary) };
    case 'group':
      return { ...head, main: groupContent(view, summary) };
    case 'search': {
      const found = await search(summary, view.q);
      return { ...head, main: searchContent(view.q, found, summary) };
    }
    case 'appliance':
    case 'farm':
    case 'certificate': {
      const health = summary.perAppliance.find(({ status }) => status.name === view.appliance);
      if (!health) return notWatched(parts.unknownApplianceMessage(view.appliance));
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
  if (view.kind === 'certificate') return certificateContent(health, view.certificate, summary.takenAtMs);
  const { appliance } = view;
  if (view.kind === 'appliance') {
    const panels = [await newestChanges(parts, { appliance }), twinPanel(appliance, parts.twinOf(appliance))];
    return applianceContent(health, view, summary, panels);
  }
  const { farm } = view;
  const spoken = parts.exporter().adminUrl === undefined ? undefined : parts.spoken;
  const changes = await newestChanges(parts, { appliance, farm }, health.status);
  const availability = availabilityPanel(await findTimes(parts.history, appliance, farm), summary.takenAtMs);
  return html`${farmContent(health, farm, summary, spoken)}${availability}${changes}`;
}

function notWatched(message: string): StatusContent {
  const main = html`<h1 id="overall-status">Not watched here</h1><p>${message} <a href="./">All appliances</a></p>`;
  return { level: 'unknown', title: 'Not watched here · zlb-exporter', main, status: 404 };
}

/** Returns the title of the tab, which begins with the number of problems. */
function titleOf(problems: readonly Problem[], name: string): string {
  return problems.length === 0 ? name : `(${problems.length}) ${name}`;
}
