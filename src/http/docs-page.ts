import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenApiDocument } from './openapi/document.ts';
import { pagePlugin } from './openapi/page-plugin.ts';

const documentPath = '/docs/openapi.json';

/** Nothing from elsewhere, nothing to elsewhere: a token is typed into this page. */
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
 * Serves a page to read and to try every operation, and the document behind it. Neither needs a token: they hold nothing
 * that the API's own documents do not.
 */
export async function registerDocs(
  app: FastifyInstance,
  { document }: { readonly document: OpenApiDocument },
): Promise<void> {
  const text = JSON.stringify(document);
  // The same bytes for all: nobody needs a token for them, and a text would be copied for each slow reader.
  const bytes = Buffer.from(text);
  app.get(documentPath, (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(text) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentPolicy,
    theme: { title: document.info.title },
    uiHooks: {
      // The plugin would serve the document twice more; writing YAML would hold the process up, for anybody.
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
