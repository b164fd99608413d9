import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { acceptsGzip } from '../negotiate.ts';
import type { FleetStatus } from '../../monitor/status.ts';
import { applianceContent, farmContent } from './appliance-content.ts';
import { digestOf, loadAssets, loadRunbooks } from './assets.ts';
import { type Content, demonstrationBanner, documentOf, quietDocument } from './document.ts';
import { type ExporterFacts, exporterProblem } from './exporter-panel.ts';
import { fleetContent, listContent } from './fleet-content.ts';
import { html, markupText } from './html.ts';
import { queryOf } from './links.ts';
import { compareProblems, type Problem } from './problem.ts';
import { createRenderings, type Rendered } from './renderings.ts';
import { readRunbookLabels, runbooksFor } from './runbooks.ts';
import { search } from './search.ts';
import { searchContent } from './search-content.ts';
import { worst } from './sign.ts';
import { createSurveyor, type Survey } from './survey.ts';
import { verdictOn } from './verdict.ts';
import { readView, type View } from './view.ts';

export interface StatusPageParts {
  readonly describe: () => FleetStatus;
  /** What to say of an appliance that is not watched here. */
  readonly strangerInWords: (appliance: string) => string;
  readonly exporter: () => ExporterFacts;
  /** Puts what can be typed here in place of `zlb-exporter` in the commands of a text. */
  readonly spoken: (text: string) => string;
  readonly now: () => number;
}

/** Nothing from elsewhere and nothing to elsewhere, and only the script and the style that are files of ours. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = { 'content-security-policy': contentPolicy, 'referrer-policy': 'no-referrer' } as const;

const mostHits = 50;

/** The page for people at `/`: the fleet, an appliance or what a search finds, by its query. */
export function registerStatusPage(app: FastifyInstance, parts: StatusPageParts): void {
  const { describe, strangerInWords, exporter, spoken, now } = parts;
  const survey = createSurveyor({ describe, now });
  const renderings = createRenderings();
  /** Whoever looks at the fleet does not wait for what strangers search for, of which there is no end. */
  const fleetRenderings = createRenderings();
  const assets = loadAssets();
  const { version, isDemonstration } = exporter();
  const build = `${version}-${digestOf(assets)}${isDemonstration ? '-demonstration' : ''}`;
  const banner = isDemonstration ? demonstrationBanner(spoken('zlb-exporter --config.file=zlb.yml')) : undefined;
  for (const { path, type, bytes } of assets) app.get(path, (_request, reply) => reply.type(type).send(bytes));
  const runbooks = spoken(loadRunbooks());
  app.get('/runbooks', (request, reply) => {
    const labels = readRunbookLabels(request.query as Readonly<Record<string, unknown>>);
    const page = quietDocument('Runbooks · zlb-exporter', runbooksFor(runbooks, labels));
    return reply.headers(pageHeaders).type('text/html; charset=utf-8').send(page);
  });
  // The address that the shipped alerts have, below a host of one's own; a browser keeps the fragment.
  app.get('/docs/operations.md', (request, reply) => {
    const query = request.url.indexOf('?');
    return reply.redirect(`../runbooks${query === -1 ? '' : request.url.slice(query)}`, 308);
  });

  app.get('/', async (request, reply) => {
    const view = readView(request.query as Readonly<Record<string, unknown>>);
    const taken = await survey();
    const { get } = view.kind === 'fleet' ? fleetRenderings : renderings;
    const rendering = await get(taken, queryOf(view), () => render(view, taken));
    reply.headers({ ...pageHeaders, etag: rendering.tag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === rendering.tag) return reply.code(304).send();
    reply.code(rendering.status).type('text/html; charset=utf-8');
    if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(rendering.bytes);
    return reply.header('content-encoding', 'gzip').send(await rendering.compressed());
  });

  async function render(view: View, taken: Survey): Promise<Rendered> {
    // Looking, sorting and writing take a few milliseconds each with a thousand appliances.
    await nextTurn();
    const content = await contentOf(view, taken);
    const frame = { search: view.kind === 'search' ? view.text : '', takenAtMs: taken.takenAtMs, build, banner };
    return {
      status: content.status ?? 200,
      text: documentOf(content, frame),
      essence: `${build}\n${content.title}\n${markupText(content.main)}`,
    };
  }

  async function contentOf(view: View, taken: Survey): Promise<Content & { readonly status?: number }> {
    const facts = exporter();
    const ownProblem = exporterProblem(facts);
    const problems = ownProblem ? [...taken.problems, ownProblem].toSorted(compareProblems) : taken.problems;
    const verdict = verdictOn(taken.findings, problems, facts.shard);
    const whole = { level: verdict.level, title: titleOf(problems, 'zlb-exporter') };
    switch (view.kind) {
      case 'fleet':
        return { ...whole, main: fleetContent({ survey: taken, problems, verdict, facts }) };
      case 'list':
        return { ...whole, main: listContent(view, taken, problems) };
      case 'search':
        return {
          ...whole,
          main: searchContent(view.text, await search(taken, view.text, mostHits), taken.takenAtMs),
        };
      case 'appliance':
      case 'farm': {
        const finding = taken.findings.find(({ status }) => status.name === view.appliance);
        if (!finding) {
          const main = html`<h1 id="verdict">Not watched here</h1><p>${strangerInWords(view.appliance)} <a href="./">All appliances</a></p>`;
          return { level: 'unknown', title: 'Not watched here · zlb-exporter', main, status: 404 };
        }
        const own = problems.filter(({ appliance }) => appliance === view.appliance);
        return {
          level: worst([finding.level, ...own.map(({ level }) => level)]),
          title: titleOf(own, `${view.appliance} · zlb-exporter`),
          main:
            view.kind === 'farm'
              ? farmContent(finding, view.farm, taken.takenAtMs)
              : applianceContent(finding, view.page, taken, problems),
        };
      }
    }
  }
}

/** Seen in a tab among others: how much is wrong comes first. */
function titleOf(problems: readonly Problem[], name: string): string {
  return problems.length === 0 ? name : `(${problems.length}) ${name}`;
}
