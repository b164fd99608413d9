import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import type { AdminCall } from '../../../../src/admin/calls/admin-call.ts';
import type { Gateway } from '../../../../src/admin/calls/gateway.ts';
import type { ChangesContext } from '../../../../src/admin/changes/context.ts';
import { sendDirectly } from '../../../../src/admin/changes/direct-call.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { listening } from '../../../support/listening.ts';
import { untilIs } from '../../../support/until.ts';

/** A call that starts an L4 farm, beside another one that listens. */
async function givenCall(send: Gateway['send']) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const vport = String(await listening(server));
  const [dns, mail] = ['dns', 'mail'].map((name) => ({
    name,
    profile: 'l4xnat',
    state: 'up',
    vip: '127.0.0.1',
    vport,
  }));
  const gateway: Partial<Record<keyof Gateway, unknown>> = {
    applianceFor: () => ({ knownFarms: () => [dns, mail] }),
    send,
  };
  const context: Partial<ChangesContext> = {
    gateway: gateway as unknown as Gateway,
    stopping: new AbortController(),
    vipLimitsOf: () => ({ networks: ['127.0.0.0/8'], connectTo: {} }),
    sleep: () => Promise.resolve(),
  };
  const call: Partial<AdminCall> = {
    appliance: 'lb-1',
    target: createOperations().find('PUT', '/farms/dns/actions'),
    body: undefined,
  };
  return {
    connections: () => connections,
    send: () => sendDirectly(context as ChangesContext, call as AdminCall, 'cleared'),
  };
}

const answer = { status: 200, headers: {}, body: Buffer.from('{}') };

it('a call probes other L4 farms once it holds its slot, and afterwards', async () => {
  let before: number | undefined;
  const given = await givenCall(async (_call, _clearance, onHeld) => {
    before = given.connections();
    await onHeld?.();
    await untilIs(given.connections, 1);
    return answer;
  });

  expect(await given.send()).toEqual(answer);
  await untilIs(given.connections, 2);
  expect(before).toBe(0);
});

it('a call that gets no slot probes no farm', async () => {
  const { send, connections } = await givenCall(() => Promise.reject(new AdminProblem('busy', { detail: 'Busy.' })));

  await expect(send()).rejects.toMatchObject({ code: 'busy' });
  expect(connections()).toBe(0);
});
