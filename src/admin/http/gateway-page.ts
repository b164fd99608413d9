import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { contentPolicy, loadAssets, readAssets } from '../../pages/assets.ts';
import { markupText } from '../../pages/html.ts';
import { levelIcons } from '../../pages/marks.ts';

// People type a token into these pages.
const pageHeaders = { 'content-security-policy': contentPolicy("'none'"), 'cache-control': 'no-store' } as const;
const html5 = 'text/html; charset=utf-8';
const folders = new URL('../../pages/', import.meta.url);

/**
 * Registers a page of the gateway: the folder of its name, and files of other pages that it loads
 * too. It contains nothing but what the program ships: all data come with a token.
 */
export function registerPage(app: FastifyInstance, name: 'console' | 'docs', borrowed: readonly string[]): void {
  const folder = new URL(`${name}/`, folders);
  const page = readFileSync(new URL('index.html', folder), 'utf8').replace('<!-- signs -->', markupText(levelIcons));
  app.get(`/${name}`, (_request, reply) => reply.headers(pageHeaders).type(html5).send(page));
  const candidates = [...loadAssets(), ...readAssets(new URL('console/', folders))];
  const shared = candidates.filter((asset) => borrowed.includes(asset.name));
  for (const { name: file, type, bytes } of [...readAssets(folder), ...shared])
    app.get(`/${name}/${file}`, (_request, reply) => reply.headers(pageHeaders).type(type).send(bytes));
}

/** Registers the page for people who decide on changes. */
export function registerConsole(app: FastifyInstance): void {
  registerPage(app, 'console', [
    'page.css',
    'elements.js',
    'match.js',
    'times.js',
    'warning.svg',
    'well.svg',
    'unknown.svg',
  ]);
  app.get('/', (_request, reply) => reply.redirect('./console'));
}
