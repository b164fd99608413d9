import { expect, it } from 'vitest';
import { type AdminAppliance, createSession } from '../../../../src/admin/calls/session.ts';
import { createRequestQueue, type QueueSlot } from '../../../../src/admin/calls/request-queue.ts';
import { ApplianceError } from '../../../../src/appliance/errors.ts';
import type { RelayResponse, RelayRequest } from '../../../../src/appliance/relay.ts';

const here = new AbortController().signal;
const label = { noun: 'read', object: 'of farm shop' };
const place = { appliance: 'lb-1', kind: 'read', label, principal: 'alice', signal: here } as const;

it('an appliance gets no further call while it works on one whose caller has timed out', async () => {
  const answer = Promise.withResolvers<RelayResponse>();
  const relay = { send: () => answer.promise };
  const appliance = { relay, knownFarms: () => undefined } as unknown as AdminAppliance;
  const queue = createRequestQueue({ maxReads: () => 1, maxWaiting: 4, maxQueueWaitMs: 60_000 });
  const order: string[] = [];
  const ask = (slot: QueueSlot) =>
    createSession({ appliance, slot, timeoutMs: 1, signal: here }).send({ method: 'PUT', path: '/farms/shop' });

  await expect(queue.run(place, ask)).rejects.toMatchObject({ reason: 'timeout' });
  const next = queue.run(place, async () => void order.push('next'));
  await new Promise((resolve) => setImmediate(resolve));
  order.push('answer');
  answer.resolve({ status: 200, headers: {}, body: Buffer.from('{}') });
  await next;

  expect(order).toEqual(['answer', 'next']);
});

it('a read is aborted and releases its slot once its caller has the response', async () => {
  const relay = {
    send: ({ signal }: RelayRequest) =>
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () =>
          reject(new ApplianceError('cancelled', { endpoint: '/farms', message: 'cut' })),
        ),
      ),
  };
  const appliance = { relay, knownFarms: () => undefined } as unknown as AdminAppliance;
  const queue = createRequestQueue({ maxReads: () => 1, maxWaiting: 4, maxQueueWaitMs: 60_000 });

  const asked = queue.run(place, (slot) =>
    createSession({ appliance, slot, timeoutMs: 1, signal: here }).send({ method: 'GET', path: '/farms/shop/status' }),
  );

  await expect(asked).rejects.toMatchObject({ reason: 'timeout' });
  await expect(queue.run(place, () => Promise.resolve('next'))).resolves.toBe('next');
});
