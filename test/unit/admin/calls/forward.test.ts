import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { forward } from '../../../../src/admin/calls/forward.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import type { Particulars } from '../../../../src/admin/calls/recorder.ts';
import { givenSpool } from '../../../support/given-spool.ts';

/** A change whose answer is a stream, as the appliance sends a long one. */
async function givenLongAnswer(
  body: Readable,
  { status = 200, ...room }: { status?: number; maxBytesPerPrincipal?: number } = {},
) {
  const { spool } = await givenSpool(room);
  const outcomes: Particulars[] = [];
  const leaving = new AbortController();
  let over: Promise<unknown> | undefined;
  const answering = forward({
    appliance: {
      name: 'lb-1',
      relay: {
        async send({ beforeSending }) {
          beforeSending?.();
          return { status, headers: {}, body };
        },
      },
    },
    request: { principal: { name: 'alice' }, signal: leaving.signal },
    beforeSending: () => undefined,
    call: createOperations().find('PUT', '/farms/shop/actions'),
    body: undefined,
    slot: { signal: new AbortController().signal, keepFor: (exchange) => void (over = exchange) },
    spool,
    freeze: { state: undefined, signal: new AbortController().signal },
    timeoutMs: 5_000,
    onOver: async (outcome) => void outcomes.push(outcome),
  });
  answering.catch(() => undefined);
  return { outcomes, answering, leaving, over: () => over };
}

describe('the outcome of a call with a long answer', () => {
  it('is reported once, when the whole answer has arrived, whether or not its caller reads it', async () => {
    const { outcomes, answering, over } = await givenLongAnswer(Readable.from([Buffer.from('ab'), Buffer.from('c')]));

    await over();

    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 3 })]);
    const { body } = await answering;
    expect((Buffer.isBuffer(body) ? body : await buffer(body)).toString()).toBe('abc');
    expect(outcomes).toHaveLength(1);
  });

  it('covers the whole answer when the caller leaves in the middle', async () => {
    const source = new PassThrough();
    const { outcomes, answering, leaving, over } = await givenLongAnswer(source);
    source.write('ab');

    leaving.abort();
    source.end('c');
    const { body } = await answering;
    await over();

    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 3 })]);
    expect(body).toMatchObject({ destroyed: true });
  });

  it('has the status and a code if the appliance breaks off, and the caller gets one complete problem', async () => {
    const source = new PassThrough();
    const { outcomes, answering } = await givenLongAnswer(source);
    source.write('ab');

    source.destroy(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));

    await expect(answering).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('lb-1 answered 200, and the answer could not be passed on'),
      remedy: expect.stringContaining('read the object before you repeat the call'),
    });
    expect(outcomes).toEqual([
      expect.objectContaining({ event: 'outcome', status: 200, code: 'upstream_unreachable' }),
    ]);
  });

  it('has the status if there is no space for the answer, and the connection is ended', async () => {
    const source = new PassThrough();
    const { outcomes, answering } = await givenLongAnswer(source, { maxBytesPerPrincipal: 10 });

    await expect(answering).rejects.toMatchObject({
      code: 'spool_unavailable',
      message: expect.stringContaining('lb-1 answered 200'),
    });
    expect(outcomes).toEqual([expect.objectContaining({ status: 200, code: 'spool_unavailable' })]);
    expect(source.destroyed).toBe(true);
  });

  it('is certain where the key of the gateway was refused, which a 401 would say of the token of the caller', async () => {
    const { outcomes, answering } = await givenLongAnswer(Readable.from([]), { status: 401 });

    await expect(answering).rejects.toMatchObject({
      code: 'upstream_unauthorized',
      status: 502,
      remedy: expect.stringContaining('admin_api_key'),
    });
    expect(outcomes).toMatchObject([{ event: 'outcome', status: 502, code: 'upstream_unauthorized' }]);
    expect(outcomes[0]).not.toHaveProperty('uncertain');
  });
});
