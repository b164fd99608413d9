import { once } from 'node:events';
import { connect } from 'node:net';
import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../../../src/admin/calls/gateway.ts';
import type { RelayResponse } from '../../../../src/appliance/relay.ts';
import { declareContext, startContext } from '../../../../src/admin/http/admin-request.ts';
import { registerRelayRoutes, type RelayRoutesParts } from '../../../../src/admin/http/relay-routes.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';

/** The paths of appliances, with a gateway that sends calls so. */
function givenRelay(send: () => Promise<RelayResponse>) {
  const gateway: Partial<Record<keyof Gateway, unknown>> = { applianceFor: () => ({ name: 'lb-1' }), send };
  const parts: Partial<RelayRoutesParts> = {
    gateway: gateway as Gateway,
    changes: { submitCall: () => Promise.reject(new Error('it needs no approval')) },
    operations: createOperations(),
    bodies: { read: async () => undefined },
  };
  const app = fastify({ connectionTimeout: 1_000 });
  declareContext(app);
  app.addHook('onRequest', async (request, reply) => {
    const caller = { principal: givenPrincipal(), token: new Secret('a token of the test') };
    Object.assign(startContext(request, reply), caller);
  });
  registerRelayRoutes(app, parts as RelayRoutesParts);
  onTestFinished(() => app.close());
  return app;
}

it('a caller whose call waits is not cut off as an idle connection', async () => {
  const sent = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<RelayResponse>();
  const app = givenRelay(() => (sent.resolve(), answer.promise));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const asking = fetch(`${url}/appliances/lb-1/farms`);
  await sent.promise;
  // It came later, and its time is over: so is that of the other one.
  await once(connect(Number(new URL(url).port), '127.0.0.1').resume(), 'close');
  answer.resolve({ status: 200, headers: {}, body: Buffer.from('{}') });

  expect((await asking).status).toBe(200);
});
