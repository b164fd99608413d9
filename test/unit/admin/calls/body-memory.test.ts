import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { type ReceiveOptions, maxBodyBytes, maxTotalBytes } from '../../../../src/admin/calls/body-memory.ts';
import { givenBodyMemory } from '../../../support/given-body-memory.ts';
import { untilIs } from '../../../support/until.ts';

const impatient = { graceMs: 50, tooSlow: () => new Error('too slow') };
const patient = { ...impatient, graceMs: 60_000 };

/** Memory, and what it receives from alice. */
function givenReceiver() {
  const memory = givenBodyMemory();
  const receive = (source: Readable, more: Partial<ReceiveOptions> = {}) =>
    memory.receive({
      principal: 'alice',
      source,
      length: undefined,
      pace: patient,
      signal: new AbortController().signal,
      ...more,
    });
  return { memory, receive };
}

it('a buffered body counts from the arrival of its bytes until they are read', async () => {
  const { memory, receive } = givenReceiver();
  const source = new PassThrough();
  const ends: unknown[] = [];
  const onEnd = async (...end: unknown[]) => void ends.push(end);
  const receiving = receive(source, { length: 1_000_000, onEnd });
  expect(memory.bufferedBytes()).toBe(0);

  source.write('first');
  await untilIs(() => memory.bufferedBytes(), 5);
  source.end(Buffer.alloc(300_000));
  const body = await receiving;
  expect(memory.bufferedBytes()).toBe(300_005);

  expect(String(body.read(5))).toBe('first');
  expect([memory.bufferedBytes(), body.bytesRead]).toEqual([300_000, 5]);
  expect((await buffer(body)).length).toBe(300_000);
  expect(body.bytesRead).toBe(300_005);
  await untilIs(() => body.closed, true);
  expect(ends).toEqual([[300_005, undefined]]);
});

it('a buffered body fits into the half of its principal, and into what all others leave', async () => {
  const { receive } = givenReceiver();
  const hold = (principal: string, bytes: number) => receive(Readable.from([Buffer.alloc(bytes)]), { principal });
  const refusal = (because: string) => ({
    code: 'too_many_bodies',
    message: expect.stringContaining(because),
    headers: { 'retry-after': '10' },
  });
  const first = await hold('alice', maxBodyBytes - 1);

  await expect(hold('alice', 2)).rejects.toMatchObject(refusal(`alice has ${maxBodyBytes - 1} bytes`));
  const held = [await hold('alice', 1), await hold('bob', maxBodyBytes)];
  await expect(hold('carol', 1)).rejects.toMatchObject(refusal(`all callers have ${maxTotalBytes} bytes`));
  const unread = receive(new PassThrough(), { length: 2 });
  await expect(unread, 'is refused by the length that it announces').rejects.toThrow('Not enough memory');
  first.destroy();
  await untilIs(() => first.closed, true);
  held.push(await hold('carol', maxBodyBytes - 1));

  for (const body of held) body.destroy();
});

it('a buffered body is freed when its source is too slow, fails or is aborted; the source stays open', async () => {
  const { receive } = givenReceiver();
  const leaving = new AbortController();
  const [slow, failing, unwanted] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const received = Promise.allSettled([
    receive(slow, { pace: impatient }),
    receive(failing),
    receive(unwanted, { signal: leaving.signal }),
  ]);
  for (const source of [slow, failing, unwanted]) source.write('some');
  await untilIs(() => unwanted.readableLength, 0);

  failing.destroy(new Error('cut'));
  leaving.abort(new Error('unwanted'));

  expect((await received).map((result) => result.status === 'rejected' && String(result.reason))).toEqual([
    'Error: too slow',
    'Error: cut',
    'Error: unwanted',
  ]);
  expect([slow.destroyed, unwanted.destroyed]).toEqual([false, false]);
  slow.destroy(new Error('a failure that nobody waits for any more'));
  await untilIs(() => slow.closed, true);
});

it('a buffered body is refused when its source has failed, or is no longer wanted', async () => {
  const { receive } = givenReceiver();
  const cut = new PassThrough().on('error', () => undefined).destroy(new Error('cut'));
  const signal = AbortSignal.abort(new Error('unwanted'));

  await expect(receive(cut)).rejects.toThrow('cut');
  await expect(receive(new PassThrough(), { signal })).rejects.toThrow('unwanted');
});

it('a buffered body is freed when it is read too slowly', async () => {
  const { receive } = givenReceiver();

  const body = (await receive(Readable.from([Buffer.alloc(300_000)]))).watch(impatient);

  await untilIs(() => body.errored?.message, 'too slow');
});

it.each([undefined, 2 * maxBodyBytes])(
  'an oversized body arrives complete, from its beginning, when its length is %s',
  async (length) => {
    const { memory, receive } = givenReceiver();
    const parts = Array.from({ length: 20 }, (_, index) => Buffer.alloc(maxBodyBytes / 10, index));

    const body = await receive(Readable.from(parts, { objectMode: false }), { length });
    const most = memory.bufferedBytes();
    const whole = await buffer(body);

    expect(most).toBeLessThanOrEqual(1.1 * maxBodyBytes);
    expect(whole.equals(Buffer.concat(parts))).toBe(true);
  },
);

it('an oversized body waits for its reader, and buffers little meanwhile', async () => {
  const { memory, receive } = givenReceiver();
  const source = new PassThrough();
  source.write('first');
  const body = await receive(source, { length: 2 * maxBodyBytes });

  for (let part = 0; part < 1_000; part += 1) source.write(Buffer.alloc(10_000));
  await untilIs(() => source.isPaused(), true);

  expect(memory.bufferedBytes()).toBeLessThan(100_000);
  body.destroy();
});
