import { fastify } from 'fastify';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { AdminCall } from '../../../../src/admin/calls/admin-call.ts';
import { type AccessLogParts, recordResponse } from '../../../../src/admin/http/access-log.ts';
import { contextOf, declareContext, startContext } from '../../../../src/admin/http/admin-request.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';

it.each([
  ['of the appliance names the operation', 'sent', '/farms/{farmname}'],
  ['of the gateway does not: a token could invent a series for each', 'new', ''],
] as const)('the metric of a 403 %s', async (_, stage, endpoint) => {
  const counted: object[] = [];
  const metrics = { countResponse: (call: object) => void counted.push(call) } as unknown as AccessLogParts['metrics'];
  const parts: Partial<AccessLogParts> = { metrics, log: pino({ level: 'silent' }) };
  const app = fastify();
  onTestFinished(() => app.close());
  declareContext(app);
  app.get('/appliances/*', (request, reply) => {
    startContext(request, reply);
    const target = createOperations().find('GET', '/farms/shop');
    const call: Partial<AdminCall> = { target, stage };
    Object.assign(contextOf(request), { appliance: 'lb-1', target, call });
    recordResponse(parts as AccessLogParts, request, reply.code(403));
    return reply.send();
  });

  await app.inject({ url: '/appliances/lb-1/farms/shop' });

  expect(counted).toEqual([{ appliance: 'lb-1', endpoint, method: 'GET', code: '403' }]);
});
