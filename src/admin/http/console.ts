import { severityIcons } from '../../pages/marks.ts';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseAccept, weightOf } from '../../lib/accept.ts';
import { contentPolicy, loadAssets, readAssets } from '../../pages/assets.ts';
import { html, markupText } from '../../pages/html.ts';
import { unknownPath } from './admin-relay.ts';
import { pathOf } from '../../server/request-line.ts';

// People type a token into this page.
const pageHeaders = { 'content-security-policy': contentPolicy("'none'"), 'cache-control': 'no-store' } as const;
const html5 = 'text/html; charset=utf-8';
const folder = new URL('../../pages/console/', import.meta.url);
/** Assets of the status page that this page loads too. */
const borrowed = ['page.css', 'elements.js', 'match.js', 'times.js', 'warning.svg', 'well.svg', 'unknown.svg'];

/**
 * Registers the page for people who decide on changes, and a page with links at `/`. Both contain
 * nothing but what the program ships: all data come with a token.
 */
export function registerConsole(app: FastifyInstance): void {
  const page = readFileSync(new URL('index.html', folder), 'utf8').replace('<!-- signs -->', markupText(severityIcons));
  app.get('/console', (_request, reply) => reply.headers(pageHeaders).type(html5).send(page));
  const shared = loadAssets().filter(({ name }) => borrowed.includes(name));
  for (const { name, type, bytes } of [...readAssets(folder), ...shared])
    app.get(`/console/${name}`, (_request, reply) => reply.headers(pageHeaders).type(type).send(bytes));
  app.get('/', (request, reply) => {
    if (!wantsFrontPage(request)) throw unknownPath();
    return reply
      .headers({ ...pageHeaders, vary: 'accept' })
      .type(html5)
      .send(frontPage);
  });
}

/** Returns true for a browser that asks for `/`; to programs there is nothing at that path. */
export function wantsFrontPage(request: FastifyRequest): boolean {
  if (pathOf(request) !== '/' || !['GET', 'HEAD'].includes(request.method)) return false;
  const ranges = parseAccept(request.headers.accept);
  const markup = weightOf(ranges, ({ type }) => type === 'text/html');
  const json = weightOf(ranges, ({ type }) => type === 'application/json' || type === 'application/problem+json');
  return markup > 0 && markup >= json;
}

const frontPage = markupText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>zlb-exporter, the admin gateway</title>
<link rel="icon" href="./console/unknown.svg" type="image/svg+xml">
<link rel="stylesheet" href="./console/page.css">
</head>
<body class="document">
<main>
<h1>The admin gateway of zlb-exporter</h1>
<ul>
<li><a href="./console">Changes that wait for a decision</a></li>
<li><a href="./docs">All operations, to read and to try</a></li>
</ul>
</main>
</body>
</html>
`);
