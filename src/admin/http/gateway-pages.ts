import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { contentPolicy, loadAssets, readAssets } from '../../pages/assets.ts';
import { markupText } from '../../pages/html.ts';
import { levelIcons } from '../../pages/marks.ts';
import { gatewayTag } from './openapi/responses.ts';
import { openApiDocument } from './openapi/document.ts';
import { describeRoute, type GatewayPaths } from './openapi/gateway-routes.ts';

// People type a token into these pages.
const pageHeaders = { 'content-security-policy': contentPolicy("'none'"), 'cache-control': 'no-store' } as const;
const html5 = 'text/html; charset=utf-8';
const folders = new URL('../../pages/', import.meta.url);

/**
 * Registers a page of the gateway: the folder of its name, and files of other pages that it loads
 * too. It contains nothing but what the program ships: all data come with a token.
 */
function registerPage(app: FastifyInstance, name: 'console' | 'docs', borrowed: readonly string[]): void {
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

const documentSchema = {
  operationId: 'readOpenApiDocument',
  tags: [gatewayTag],
  summary: 'this document',
  security: [],
  response: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } } },
};

/**
 * Serves the page of all operations, and its OpenAPI document, which has the routes that are
 * registered after this call. Neither needs a token: they contain nothing that the public documents
 * of the API do not.
 */
export function registerDocs(app: FastifyInstance, build: { readonly version: string }): void {
  const own: GatewayPaths = {};
  app.addHook('onRoute', (route) => describeRoute(own, route));
  // Built when the first reader asks, as most gateways have none. A buffer is shared by all
  // readers; a string would be copied for each slow one.
  let bytes: Buffer | undefined;
  app.get('/docs/openapi.json', { schema: documentSchema }, (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(openApiDocument(build, own)));
    return reply.type('application/json; charset=utf-8').send(bytes);
  });
  registerPage(app, 'docs', ['page.css', 'elements.js', 'make.js', 'well.svg']);
}
