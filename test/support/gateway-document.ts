import { type FastifyInstance, fastify } from 'fastify';
import { type AdminRoutesParts, registerAdminRoutes } from '../../src/admin/http/admin-routes.ts';
import { registerDocs } from '../../src/admin/http/gateway-pages.ts';
import { registerChangeRoutes, type ChangeRoutesParts } from '../../src/admin/http/change-routes.ts';

/** The documentation of the gateway's listener, with routes that nobody calls. */
export async function createDocsApp(version: string): Promise<FastifyInstance> {
  const app = fastify();
  app.setSerializerCompiler(() => JSON.stringify);
  registerDocs(app, { version });
  registerAdminRoutes(app, {} as AdminRoutesParts);
  registerChangeRoutes(app, {} as ChangeRoutesParts);
  await app.ready();
  return app;
}

/** The OpenAPI document as clients get it. */
export async function gatewayDocument(version: string) {
  const app = await createDocsApp(version);
  const answer = await app.inject('/docs/openapi.json');
  await app.close();
  return answer.json();
}
