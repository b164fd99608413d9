import type { FastifyInstance } from 'fastify';
import { registerPage } from './gateway-page.ts';
import { gatewayTag } from './openapi/responses.ts';
import { openApiDocument } from './openapi/document.ts';
import { describeRoute, type GatewayPaths } from './openapi/gateway-routes.ts';

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
