import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenApiDocument } from './openapi/document.ts';
import { pagePlugin } from './openapi/page-plugin.ts';

const documentPath = '/docs/openapi.json';

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
 * Serves Swagger UI and its OpenAPI document. Neither needs a token: they contain nothing that the
 * public documents of the API do not.
 */
export async function registerDocs(
  app: FastifyInstance,
  { document }: { readonly document: OpenApiDocument },
): Promise<void> {
  const text = JSON.stringify(document);
  // A buffer is shared by all readers; a string would be copied for each slow one.
  const bytes = Buffer.from(text);
  app.get(documentPath, (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(text) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentPolicy,
    theme: { title: document.info.title },
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
