import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { declareContext, startContext } from '../../../../src/admin/http/admin-request.ts';
import { type AdminRoutesParts, maxSearches, registerAdminRoutes } from '../../../../src/admin/http/admin-routes.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';

/** The paths of the gateway itself, and searches of the journal that wait for the test. */
function givenRoutes() {
  const searches: PromiseWithResolvers<readonly never[]>[] = [];
  const query: AdminRoutesParts['journal']['query'] = () => {
    const search = Promise.withResolvers<readonly never[]>();
    searches.push(search);
    return search.promise;
  };
  const app = fastify();
  app.setSerializerCompiler(() => JSON.stringify);
  declareContext(app);
  app.addHook('onRequest', async (request, reply) => {
    const principal = givenPrincipal({ name: String(request.headers['x-test-name'] ?? 'ann') });
    const caller = { principal, token: new Secret('a token of the test') };
    Object.assign(startContext(request, reply), caller);
  });
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof AdminProblem ? error.status : 500).send(),
  );
  const parts: Partial<AdminRoutesParts> = { journal: { query } };
  registerAdminRoutes(app, parts as AdminRoutesParts);
  onTestFinished(() => app.close());
  const readAudit = (name: string) =>
    app.inject({ url: '/audit', headers: { 'x-test-name': name } }).then(({ statusCode }) => statusCode);
  return { searches, readAudit };
}

it('one audit search runs at a time, a few wait, and more are refused', async () => {
  const { searches, readAudit } = givenRoutes();

  const waiting = Array.from({ length: maxSearches }, (_, index) => readAudit(index % 2 === 0 ? 'ann' : 'bob'));
  const refused = await readAudit('eve');
  const atOnce = searches.length;
  searches[0]!.reject(new Error('a damaged journal'));
  const failed = await waiting[0];
  for (let next = 1; next < maxSearches; next += 1) {
    searches[next]!.resolve([]);
    await waiting[next];
  }

  expect(atOnce).toBe(1);
  expect(refused).toBe(503);
  expect(failed).toBe(500);
  expect(await Promise.all(waiting.slice(1))).toEqual(waiting.slice(1).map(() => 200));
});

it('one token leaves half of the audit searches to others', async () => {
  const { searches, readAudit } = givenRoutes();

  const own = Array.from({ length: maxSearches / 2 }, () => readAudit('ann'));
  const refused = await readAudit('ann');
  const other = readAudit('bob');
  for (const [index, each] of [...own, other].entries()) {
    searches[index]!.resolve([]);
    await each;
  }

  expect(refused).toBe(503);
  expect(await other).toBe(200);
});
