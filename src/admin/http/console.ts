import { levelIcons } from '../../pages/marks.ts';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { contentPolicy, loadAssets, readAssets } from '../../pages/assets.ts';
import { markupText } from '../../pages/html.ts';

// People type a token into this page.
const pageHeaders = { 'content-security-policy': contentPolicy("'none'"), 'cache-control': 'no-store' } as const;
const html5 = 'text/html; charset=utf-8';
const folder = new URL('../../pages/console/', import.meta.url);
/** Assets of the status page that this page loads too. */
const borrowed = ['page.css', 'elements.js', 'match.js', 'times.js', 'warning.svg', 'well.svg', 'unknown.svg'];

/**
 * Registers the page for people who decide on changes. It contains nothing but what the program
 * ships: all data come with a token.
 */
export function registerConsole(app: FastifyInstance): void {
  const page = readFileSync(new URL('index.html', folder), 'utf8').replace('<!-- signs -->', markupText(levelIcons));
  app.get('/console', (_request, reply) => reply.headers(pageHeaders).type(html5).send(page));
  const shared = loadAssets().filter(({ name }) => borrowed.includes(name));
  for (const { name, type, bytes } of [...readAssets(folder), ...shared])
    app.get(`/console/${name}`, (_request, reply) => reply.headers(pageHeaders).type(type).send(bytes));
  app.get('/', (_request, reply) => reply.redirect('./console'));
}
