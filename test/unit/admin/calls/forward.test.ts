import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BodyMemory, maxBodyBytes } from '../../../../src/admin/calls/body-memory.ts';
import { forward } from '../../../../src/admin/calls/forward.ts';
import type { RelayResponse } from '../../../../src/appliance/relay.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import type { EventFields } from '../../../../src/admin/calls/recorder.ts';
import { givenBodyMemory } from '../../../support/given-body-memory.ts';

/** A change whose answer is a stream, as the appliance sends a long one. */
async function givenLongAnswer(
  body: Readable,
  { status = 200, headers = {}, memory = givenBodyMemory() }: Partial<RelayResponse> & { memory?: BodyMemory } = {},
) {
  const outcomes: EventFields[] = [];
  const leaving = new AbortController();
  let over: Promise<unknown> | undefined;
  const answering = forward({
    appliance: {
      name: 'lb-1',
      relay: {
        async send({ beforeSending }) {
          beforeSending?.();
          return { status, headers, body };
        },
      },
    },
    call: {
      principal: { name: 'alice' },
      signal: leaving.signal,
      target: createOperations().find('PUT', '/farms/shop/actions'),
      body: undefined,
      stage: 'recorded',
    },
    beforeSending: () => undefined,
    slot: { signal: new AbortController().signal, extendUntil: (exchange) => void (over = exchange) },
    memory,
    freeze: { state: undefined, signal: new AbortController().signal },
    timeoutMs: 5_000,
    onOutcome: async (outcome) => void outcomes.push(outcome),
  });
  answering.catch(() => undefined);
  /** The body of the answer, as its caller gets it. */
  const stream = async () => (await answering).body as Readable;
  return { memory, outcomes, answering, stream, leaving, over: () => over };
}

it('the outcome of a call with a long response is recorded once, when the whole response has arrived', async () => {
  const { outcomes, answering, over } = await givenLongAnswer(Readable.from([Buffer.from('ab'), Buffer.from('c')]));

  await over();

  expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, received_bytes: 3 })]);
  const { body } = await answering;
  expect((Buffer.isBuffer(body) ? body : await buffer(body)).toString()).toBe('abc');
  expect(outcomes).toHaveLength(1);
});

it('the outcome of a call with a long response covers all of it, even when the caller disconnects', async () => {
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

it('the outcome of a long response that breaks off has status and code, and the caller gets one problem', async () => {
  const source = new PassThrough();
  const { outcomes, answering } = await givenLongAnswer(source);
  source.write('ab');

  source.destroy(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));

  await expect(answering).rejects.toMatchObject({
    code: 'upstream_unreachable',
    message: expect.stringContaining('lb-1 answered 200, and the response could not be forwarded'),
    remedy: expect.stringContaining('read the object before you repeat the call'),
  });
  expect(outcomes).toEqual([expect.objectContaining({ event: 'outcome', status: 200, code: 'upstream_unreachable' })]);
});

it('the outcome of a response that does not fit into memory has its status, and advises against a blind retry', async () => {
  const { memory, stream } = await givenLongAnswer(Readable.from([Buffer.alloc(maxBodyBytes)]));
  const unread = await stream();
  const source = new PassThrough();
  const { outcomes, answering } = await givenLongAnswer(source, { memory, headers: { 'content-length': '100000' } });

  await expect(answering).rejects.toMatchObject({
    code: 'too_many_bodies',
    message: expect.stringContaining('lb-1 answered 200'),
    remedy: expect.stringContaining('read the object before you repeat the call'),
    headers: { 'retry-after': '10' },
  });
  expect(outcomes).toEqual([expect.objectContaining({ status: 200, code: 'too_many_bodies' })]);
  expect(source.destroyed).toBe(true);
  unread.destroy();
});

it('the outcome of a call whose gateway key was refused is certain, and is a 502 instead of a 401', async () => {
  const { outcomes, answering } = await givenLongAnswer(Readable.from([]), { status: 401 });

  await expect(answering).rejects.toMatchObject({
    code: 'upstream_unauthorized',
    status: 502,
    remedy: expect.stringContaining('admin_api_key'),
  });
  expect(outcomes).toMatchObject([{ event: 'outcome', status: 502, code: 'upstream_unauthorized' }]);
  expect(outcomes[0]).not.toHaveProperty('uncertain');
});

describe('a response that is too long for memory', () => {
  const headers = { 'content-length': String(maxBodyBytes + 1) };

  it('is streamed as it arrives, and holds its slot until it ends', async () => {
    const source = new PassThrough();
    const { outcomes, stream, over } = await givenLongAnswer(source, { headers });
    source.write('first');

    const parts = (await stream()).iterator();

    expect(String((await parts.next()).value)).toBe('first');
    expect(outcomes, 'its slot is kept').toEqual([]);
    source.end('last');
    expect(String((await parts.next()).value)).toBe('last');
    expect(await parts.next()).toMatchObject({ done: true });
    await over();
    expect(outcomes).toEqual([expect.objectContaining({ status: 200, received_bytes: 9 })]);
    expect(outcomes[0]).not.toHaveProperty('code');
  });

  const closed = Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' });
  type Cut = (source: PassThrough, body: Readable, leaving: AbortController) => unknown;

  it.each<[what: string, cut: Cut, code: string]>([
    ['the appliance breaks off', (source) => source.destroy(closed), 'upstream_unreachable'],
    ['the appliance does not go on', (_, body) => body.resume(), 'upstream_timeout'],
    ['its caller leaves', (_source, _body, leaving) => leaving.abort(), 'caller_left'],
    ['its caller does not read it', (source) => source.write(Buffer.alloc(300_000)), 'caller_left'],
  ])('breaks off when %s, and its outcome says so', async (_, cut, code) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const source = new PassThrough();
    const { outcomes, stream, leaving, over } = await givenLongAnswer(source, { headers });
    source.write('first');
    const body = await stream();
    body.on('error', () => undefined);

    cut(source, body, leaving);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();

    await over();
    expect(outcomes).toEqual([expect.objectContaining({ status: 200, code })]);
    expect([source.destroyed, body.destroyed]).toEqual([true, true]);
  });
});
