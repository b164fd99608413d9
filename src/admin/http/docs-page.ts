import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { gatewayTag } from './openapi/answers.ts';
import { openApiDocument, title } from './openapi/document.ts';

const documentPath = '/docs/openapi.json';

const documentSchema = {
  operationId: 'readOpenApiDocument',
  tags: [gatewayTag],
  summary: 'this document',
  security: [],
  response: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } } },
};

/** Allows nothing from or to other origins: users type a token into this page. */
const contentPolicy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/**
 * Serves Swagger UI and its OpenAPI document, which has the routes that are registered after this
 * call. Neither needs a token: they contain nothing that the public documents of the API do not.
 */
export async function registerDocs(app: FastifyInstance, build: { readonly version: string }): Promise<void> {
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title, version: build.version } },
    hideUntagged: true,
    // Not the body of a route for fastify, which would read and check it.
    transform: ({ schema, url }) => {
      const { takes: body, ...described } = (schema ?? {}) as FastifySchema & { readonly takes?: unknown };
      return { schema: { ...described, body }, url };
    },
    // Added last: the plug-in would go through all shapes of replies, which takes a tenth of a
    // second.
    transformObject: (described) => {
      if (!('openapiObject' in described)) return described.swaggerObject;
      const { paths, ...document } = openApiDocument(build);
      // The types of the plug-in know OpenAPI's own members alone.
      return JSON.parse(JSON.stringify({ ...document, paths: { ...described.openapiObject.paths, ...paths } }));
    },
  });
  // Built when the first reader asks, as most gateways have none. A buffer is shared by all
  // readers; a string would be copied for each slow one.
  let bytes: Buffer | undefined;
  app.get(documentPath, { schema: documentSchema }, (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type('application/json; charset=utf-8').send(bytes);
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentPolicy,
    theme: { title },
    uiHooks: {
      // The plug-in would serve the document twice more; writing YAML blocks the event loop.
      onRequest(request, reply, done) {
        const { url } = request.routeOptions;
        if (url === '/docs/json') void reply.redirect(documentPath);
        else if (url === '/docs/yaml') reply.callNotFound();
        else done();
      },
    },
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'none',
      filter: true,
      deepLinking: true,
      displayOperationId: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: -1,
      validatorUrl: null,
      plugins: [pagePlugin],
    },
  });
}

/**
 * Runs in the browser, as part of Swagger UI, so that it can use nothing from outside itself.
 * Swagger UI would read the whole document for each opened operation, which takes a second. Our
 * document refers only to its own components, never in a circle, so that an operation can be
 * resolved alone.
 */
export function pagePlugin() {
  return {
    fn: {
      resolveSubtree: async (document: unknown, path: readonly string[]) => {
        const at = (keys: readonly string[]): unknown =>
          keys.reduce<unknown>((node, key) => Reflect.get(Object(node), key), document);
        const resolved = (node: unknown): unknown => {
          if (Array.isArray(node)) return node.map(resolved);
          if (typeof node !== 'object' || node === null) return node;
          if ('$ref' in node) return resolved(at(String(node.$ref).replace('#/', '').split('/')));
          return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
        };
        return { spec: resolved(at(path)), errors: [] };
      },
    },
  };
}
