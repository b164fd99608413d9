import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../../src/admin/request-body.ts';

const limits = { uploadBytes: 1_000_000, patienceMs: 50 };

async function givenUpload(body: Readable, contentLength: number) {
  const read = await readBody('gzip', { contentType: 'application/gzip', contentLength, body }, limits);
  if (!read) throw new Error('an upload has a body');
  return read;
}

describe('an upload', () => {
  it('is left as it is until it is sent: a refusal must not leave a stream behind that fails later', async () => {
    const body = new PassThrough();
    body.write('half');

    await givenUpload(body, 8);

    expect(body.readableFlowing).toBeNull();
    expect(body.listenerCount('error')).toBe(0);
    expect(body.destroy(new Error('the sender is gone')).once('error', () => undefined).destroyed).toBe(true);
  });

  it('goes through as it comes, and has its digest at its end', async () => {
    const upload = await givenUpload(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 3);

    const content = upload.content();
    const before = upload.sent();
    const whole = Buffer.isBuffer(content) ? content : await buffer(content);

    expect(whole.toString()).toBe('abc');
    expect(before).toEqual({ bytes: 0 });
    expect(upload.sent()).toEqual({
      bytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
    expect(upload.problem()).toBeUndefined();
  });

  it('that stands still ends, and says why', async () => {
    const body = new PassThrough();
    const upload = await givenUpload(body, 8);
    body.write('half');

    const content = upload.content();

    await expect(Buffer.isBuffer(content) ? content : buffer(content)).rejects.toThrow('did not arrive within 0.05 s');
    expect(upload.problem()).toMatchObject({ code: 'body_too_slow', status: 408 });
  });

  it('that the appliance takes its time over is not blamed on its sender', async () => {
    const pieces = Array.from({ length: 20 }, () => Buffer.alloc(10_000));
    const upload = await givenUpload(Readable.from(pieces), 200_000);
    const content = upload.content();
    const taken: number[] = [];

    for await (const piece of Buffer.isBuffer(content) ? [content] : content) {
      taken.push((piece as Buffer).length);
      if (taken.length === 2) await new Promise((resolve) => setTimeout(resolve, 3 * limits.patienceMs));
    }

    expect(taken.reduce((sum, length) => sum + length)).toBe(200_000);
    expect(upload.problem()).toBeUndefined();
  });

  it('whose sender leaves ends with it', async () => {
    const body = new PassThrough();
    const upload = await givenUpload(body, 8);
    const content = upload.content();

    body.destroy(new Error('aborted'));

    await expect(Buffer.isBuffer(content) ? content : buffer(content)).rejects.toThrow('aborted');
    expect(upload.problem()).toBeUndefined();
  });
});
