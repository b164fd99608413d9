import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { AdminProblem } from '../../../src/gateway/problem.ts';
import { readBody } from '../../../src/gateway/request-body.ts';
import { givenSpool } from '../../support/given-spool.ts';

const pace = { graceMs: 60_000, tooSlow: () => new Error('too slow') };
const here = new AbortController().signal;

async function givenUpload(body: Readable, contentLength: number) {
  const { spool } = await givenSpool();
  const limits = { uploadBytes: 1_000_000, patienceMs: 50, spool };
  const read = await readBody('gzip', { contentType: 'application/gzip', contentLength, body }, limits);
  if (!read) throw new Error('an upload has a body');
  return read;
}

async function bytesOf(content: Buffer | Readable): Promise<Buffer> {
  return Buffer.isBuffer(content) ? content : await buffer(content);
}

describe('an upload', () => {
  it('stays with its sender until it is received: a refusal must leave no stream that fails later', async () => {
    const body = new PassThrough();
    body.write('half');

    const upload = await givenUpload(body, 8);

    expect(upload.masked).toEqual({ bytes: 8 });
    expect(body.readableFlowing).toBeNull();
    expect(body.listenerCount('error')).toBe(0);
    expect(body.destroy(new Error('the sender is gone')).once('error', () => undefined).destroyed).toBe(true);
  });

  it('is received whole, with its digest, before it is sent', async () => {
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    const upload = await givenUpload(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 3);

    await upload.receive('alice', here);
    const masked = upload.masked;
    const before = upload.sent();
    const whole = await bytesOf(upload.content(pace));

    expect(whole.toString()).toBe('abc');
    expect(masked).toEqual({ bytes: 3, sha256 });
    expect(before).toEqual({ bytes: 0 });
    expect(upload.sent()).toEqual({ bytes: 3, sha256 });
  });

  it('that stalls ends with a reason', async () => {
    const body = new PassThrough();
    const upload = await givenUpload(body, 8);
    body.write('half');

    await expect(upload.receive('alice', here)).rejects.toMatchObject({
      code: 'body_too_slow',
      status: 408,
      message: expect.stringContaining('16384 bytes a second'),
    });
    // The socket that the refusal goes to.
    expect(body.destroyed).toBe(false);
  });

  it('that is too slow ends too', async () => {
    const body = new PassThrough();
    const upload = await givenUpload(body, 100_000);
    const drops = setInterval(() => body.write('x'), 5);

    await expect(upload.receive('alice', here)).rejects.toMatchObject({ code: 'body_too_slow' });

    clearInterval(drops);
  });

  it('that keeps the minimum rate may take long', async () => {
    const body = new PassThrough();
    const upload = await givenUpload(body, 8_000);
    let left = 8_000;
    // Twice the lowest rate, for five times the patience.
    const pieces = setInterval(() => {
      left -= 800;
      body.write(Buffer.alloc(800));
      if (left > 0) return;
      clearInterval(pieces);
      body.end();
    }, 25);

    await upload.receive('alice', here);

    expect((await bytesOf(upload.content(pace))).length).toBe(8_000);
  });

  it('ends when its sender leaves or changes are frozen', async () => {
    const body = new PassThrough();
    const leaving = await givenUpload(body, 8);
    const receiving = leaving.receive('alice', here);
    body.destroy(new Error('aborted'));
    await expect(receiving).rejects.toMatchObject({ code: 'caller_left' });

    const freeze = new AbortController();
    const frozen = await givenUpload(new PassThrough(), 8);
    const waiting = frozen.receive('alice', freeze.signal);
    freeze.abort(new AdminProblem('frozen', { detail: 'Frozen.', remedy: 'Thaw.' }));
    await expect(waiting).rejects.toMatchObject({ code: 'frozen' });
  });
});
