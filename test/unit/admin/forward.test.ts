import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { forward } from '../../../src/admin/forward.ts';
import { createOperations } from '../../../src/admin/operation.ts';
import type { Particulars } from '../../../src/admin/recorder.ts';

/** A change whose answer is a stream, as the appliance sends a long one. */
async function givenLongAnswer(body: Readable) {
  const outcomes: Particulars[] = [];
  const answer = await forward({
    appliance: 'lb-1',
    relay: { send: async () => ({ status: 200, headers: {}, body }) },
    call: createOperations().find('PUT', '/farms/shop/actions'),
    body: undefined,
    place: { signal: new AbortController().signal, keepFor: () => undefined },
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    onOver: async (outcome) => void outcomes.push(outcome),
  });
  if (!(answer.body instanceof Readable)) throw new Error('a long answer is a stream');
  return { outcomes, body: answer.body };
}

describe('the outcome of a call with a long answer', () => {
  it('is told once, with all that came, before the last of it is passed on', async () => {
    const { outcomes, body } = await givenLongAnswer(Readable.from([Buffer.from('ab'), Buffer.from('c')]));

    expect(outcomes).toEqual([]);
    const passedOn = await buffer(body);

    expect(passedOn.toString()).toBe('abc');
    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 3 })]);
  });

  it('is told when the caller leaves before the first byte is taken', async () => {
    const source = new PassThrough();
    const { outcomes, body } = await givenLongAnswer(source);

    body.destroy();
    await once(body, 'close');

    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 0 })]);
    expect(source.destroyed).toBe(true);
  });

  it('is told when the caller leaves while the appliance says nothing more', async () => {
    const source = new PassThrough();
    const { outcomes, body } = await givenLongAnswer(source);
    source.write('ab');
    await once(body, 'readable');
    body.read();

    body.destroy();
    await once(body, 'close');

    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 2 })]);
    expect(source.destroyed).toBe(true);
  });

  it('is told when the appliance breaks off', async () => {
    const source = new PassThrough();
    const { outcomes, body } = await givenLongAnswer(source);
    source.write('ab');

    const passedOn = buffer(body);
    source.destroy(new Error('cut'));

    await expect(passedOn).rejects.toThrow('cut');
    expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200 })]);
  });
});
