import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { bodyOf, readRequestBody, repeatedName, type UnreadBody } from '../../../../src/admin/calls/request-body.ts';
import type { BodyKind } from '../../../../src/appliance/api/row.ts';
import { TooManyPartsError } from '../../../../src/lib/counted-request.ts';
import { givenBodyMemory } from '../../../support/given-body-memory.ts';
import { untilIs } from '../../../support/until.ts';

const pace = { graceMs: 60_000, tooSlow: () => new Error('too slow') };
const here = new AbortController().signal;

/** Patient unless the test is about a slow sender: this machine may be the slow one. */
async function givenUpload(body: Readable, contentLength: number, timeoutMs = 60_000) {
  const limits = { timeoutMs: () => timeoutMs, memory: givenBodyMemory() };
  const read = await readRequestBody('gzip', { contentType: 'application/gzip', contentLength, body }, limits);
  if (!read) throw new Error('an upload has a body');
  onTestFinished(() => read.release());
  return read;
}

async function bytesOf(content: Buffer | Readable): Promise<Buffer> {
  return Buffer.isBuffer(content) ? content : await buffer(content);
}

it('an upload stays with its sender until it is received, so that a refusal leaves no stream that fails later', async () => {
  const body = new PassThrough();
  body.write('half');

  const upload = await givenUpload(body, 8);

  expect(upload.masked).toEqual({ bytes: 8 });
  expect(body.readableFlowing).toBeNull();
  expect(body.listenerCount('error')).toBe(0);
  expect(body.destroy(new Error('the sender is gone')).once('error', () => undefined).destroyed).toBe(true);
});

it('an upload is received completely, with its digest, before it is sent', async () => {
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  const upload = await givenUpload(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 3);

  await upload.receive('alice', here);
  const masked = upload.masked;
  const before = upload.sent();
  const whole = await bytesOf(upload.content(pace));

  expect(whole.toString()).toBe('abc');
  expect(masked).toEqual({ bytes: 3, sha256 });
  expect(before).toEqual({ sent_bytes: 0 });
  expect(upload.sent()).toEqual({ sent_bytes: 3, sent_sha256: sha256 });
});

it('an upload that is too slow fails with a reason', async () => {
  const body = new PassThrough();
  const upload = await givenUpload(body, 100_000, 50);
  const drops = setInterval(() => body.write('x'), 5);

  await expect(upload.receive('alice', here)).rejects.toMatchObject({
    code: 'body_too_slow',
    status: 408,
    message: expect.stringContaining('16384 bytes a second'),
  });
  clearInterval(drops);
  // The socket that the refusal goes to.
  expect(body.destroyed).toBe(false);
});

it('an upload in too many parts is refused, and not reported as a sender who disconnected', async () => {
  const body = new PassThrough();
  const receiving = (await givenUpload(body, 8)).receive('alice', here);
  body.destroy(new TooManyPartsError());

  await expect(receiving).rejects.toMatchObject({ code: 'body_too_large' });
});

it('an upload that the appliance does not accept fails with a reason', async () => {
  const upload = await givenUpload(Readable.from([Buffer.alloc(300_000)]), 300_000);
  await upload.receive('alice', here);

  const content = upload.content({ ...pace, graceMs: 50 }) as Readable;

  await untilIs(() => content.errored?.message, 'too slow');
});

it('an upload is aborted when its sender disconnects or changes are frozen', async () => {
  const body = new PassThrough();
  const leaving = await givenUpload(body, 8);
  const receiving = leaving.receive('alice', here);
  body.destroy(new Error('aborted'));
  await expect(receiving).rejects.toMatchObject({ code: 'caller_left' });

  const freeze = new AbortController();
  const frozen = await givenUpload(new PassThrough(), 8);
  const waiting = frozen.receive('alice', freeze.signal);
  freeze.abort(new AdminProblem('frozen', { detail: 'Frozen.', remedy: 'Unfreeze.' }));
  await expect(waiting).rejects.toMatchObject({ code: 'frozen' });
});

describe('a body in memory', () => {
  const json = 'application/json';
  const read = async (kind: BodyKind, text: string | Buffer, more: Partial<UnreadBody> = {}) => {
    const body = Readable.from([Buffer.from(text)]);
    // Patient but with a body that never comes.
    const timeoutMs = more.body instanceof PassThrough ? 50 : 60_000;
    return await readRequestBody(
      kind,
      { contentType: json, contentLength: text.length, body, ...more },
      { timeoutMs: () => timeoutMs, memory: givenBodyMemory() },
    );
  };

  it.each([json, `${json}; charset=utf-8`, `${json};charset=UTF-8`, 'Application/JSON', ` ${json} `])(
    'is accepted with the type %j, and sent with the bare type',
    async (contentType) => {
      const body = await read('json', '{"action":"stop"}', { contentType });

      expect(body).toMatchObject({ contentType: json, contentLength: 17, fields: { action: 'stop' } });
    },
  );

  it.each([
    undefined,
    '',
    'json',
    'text/plain',
    'application/jsonp',
    'application/json-patch+json',
    'application/json, text/plain',
  ])('is refused with the type %j', async (contentType) => {
    await expect(read('json', '{}', { contentType })).rejects.toMatchObject({
      code: 'wrong_content_type',
      status: 415,
    });
  });

  it.each([
    ['half an object', '{"password":"Canary-1'],
    ['a list', '[{"action":"stop"}]'],
    ['null', 'null'],
    ['a number', '0'],
    ['a text', '"stop"'],
    ['a form', 'action=stop'],
    ['an object after a byte order mark', '\u{feff}{"action":"stop"}'],
    ['far too deep', '{"a":'.repeat(50_000)],
  ])('is refused, and not repeated, if it is %s instead of a JSON object', async (_, text) => {
    const refusal = await read('json', text).catch((error: unknown) => error);

    expect(refusal).toMatchObject({ code: 'malformed_body', status: 400 });
    expect(String(refusal)).not.toContain('Canary');
  });

  it.each([
    ['is not UTF-8', Buffer.from('{"\xc1\xa1ction":"stop","action":"start"}', 'latin1')],
    ['has a number beyond all numbers', '{"a":1e400}'],
    ['has a whole number that is rounded', '{"a":[12345678901234567890]}'],
    ['has a number of very many digits', `{"a":${'1'.repeat(100_000)}.5}`],
    ['is nested too deep', `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
  ])('is refused if it %s, because the sent body would differ from the checked one', async (_, text) => {
    const refusal = await read('json', text).catch((error: unknown) => error);

    expect(refusal).toMatchObject({ code: 'malformed_body', message: expect.stringContaining('nothing was sent') });
    expect(String(refusal).length).toBeLessThan(300);
  });

  it('may have numbers that are exact, and digits in texts', async () => {
    const text = '{"a":[1,-2.50,1e3,9007199254740991],"b":"12345678901234567890","c":"\\"1e400"}';

    expect((await read('json', text))?.sha256).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('is refused with the beginning of a duplicate name', async () => {
    const name = 'n'.repeat(5_000);

    const refusal = await read('json', `{"${name}":1,"${name}":2}`).catch((error: unknown) => error);

    expect(refusal).toMatchObject({ code: 'malformed_body', message: expect.stringContaining('"nnnnnn') });
    expect(String(refusal).length).toBeLessThan(300);
  });

  it.each<[what: string, kind: BodyKind, more: Partial<UnreadBody>, code: string]>([
    ['for an operation without a body', 'none', {}, 'body_not_allowed'],
    ['that is too long by its length', 'json', { contentLength: 1_048_577 }, 'body_too_large'],
    ['that is too long without one', 'pem', { ...chunks(1_048_577), contentType: 'text/plain' }, 'body_too_large'],
    [
      'that has very many values',
      'json',
      { body: Readable.from([Buffer.from(`{"a":[${'1,'.repeat(70_000)}1]}`)]) },
      'body_too_large',
    ],
    [
      'that is a file and too long',
      'gzip',
      { contentType: 'application/gzip', contentLength: 33_554_433 },
      'body_too_large',
    ],
    ['that is a file without a length', 'gzip', { ...chunks(2), contentType: 'application/gzip' }, 'length_required'],
    ['that is JSON and stalls', 'json', { body: new PassThrough() }, 'body_too_slow'],
    ['that is a text and stalls', 'text', { body: new PassThrough(), contentType: 'text/plain' }, 'body_too_slow'],
  ])('is refused: one %s', async (_, kind, more, code) => {
    await expect(read(kind, '{}', more)).rejects.toMatchObject({ code });
  });

  it.each<[what: string, kind: BodyKind, type: string, text: string, code: string]>([
    ['for an operation without a body', 'none', json, '{}', 'body_not_allowed'],
    ['of another type', 'json', 'text/plain', '{}', 'wrong_content_type'],
    ['that is not an object', 'json', json, '[]', 'malformed_body'],
    ['that is too long', 'pem', 'text/plain', 'x'.repeat(1_048_577), 'body_too_large'],
  ])('is refused, also when a change carries it: one %s', (_, kind, type, text, code) => {
    expect(() => bodyOf(kind, { type, bytes: Buffer.from(text) })).toThrow(expect.objectContaining({ code }));
    expect(bodyOf('none', undefined)).toBeUndefined();
  });
});

/** A body of unknown length. */
function chunks(bytes: number): Pick<UnreadBody, 'body' | 'contentLength'> {
  return { body: Readable.from([Buffer.alloc(bytes)]), contentLength: undefined };
}

it.each([
  ['at the top', '{"action":"start","action":"bogus"}', 'action'],
  ['with the same value', '{"a":1,"a":1}', 'a'],
  ['far apart', `{"a":1,${Array.from({ length: 1_000 }, (_, index) => `"f${index}":0,`).join('')}"a":2}`, 'a'],
  ['in a nested object', '{"x":{"y":[1,{"mode":"drain","mode":"cut"}]}}', 'mode'],
  ['after a nested object that has it too', '{"a":{"a":1},"b":[{"a":1}],"a":2}', 'a'],
  ['spelled with escapes', '{"action":"start","\\u0061ction":"stop"}', 'action'],
  ['spelled with capital digits in escapes', '{"\\u006Aob":1,"job":2}', 'job'],
  ['spelled with a short escape', '{"a\\/b":1,"a/b":2}', 'a/b'],
  ['as surrogates and as one letter', '{"\\ud83d\\ude00":1,"\u{1f600}":2}', '\u{1f600}'],
  ['that is empty', '{"":1,"":2}', ''],
  ['that every object has', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ['with blanks around the colons', '{ "a" \n:\t1 ,\r\n "a"   : 2 }', 'a'],
  ['that holds quotes, brackets and colons', '{"\\"a\\":{[":1,"\\"a\\":{[":2}', '"a":{['],
  ['that ends in a backslash', '{"a\\\\":"\\\\","a\\\\":2}', 'a\\'],
])('a duplicate name in an object is found %s', (_, json, name) => {
  expect(repeatedName(json)).toBe(name);
});

it.each([
  '{}',
  '[]',
  '"a:a"',
  '{"a":"a","b":"a"}',
  '{"a":1,"A":2,"a ":3}',
  '{"a":{"a":{"a":[]}}}',
  '[{"a":1},{"a":2}]',
  '{"a":["b","b"],"b":{"a":1,"b":"a"}}',
  '{"a":"{\\"b\\":1,\\"b\\":2}","b":"\\\\"}',
  '{"\\u0061\\u0301":1,"\u00e1":2}',
])('a duplicate name is not found in %s', (json) => {
  expect(repeatedName(json)).toBeUndefined();
});

it('a duplicate name is never found in output of JSON.stringify, and is found once it is inserted', () => {
  const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 });

  fc.assert(
    fc.property(fc.jsonValue(), names, (value, keys) => {
      const members = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
      const [first = ''] = keys;
      return (
        repeatedName(`[{${members.join(',')}}]`) === undefined &&
        repeatedName(`[{${[...members, `${JSON.stringify(first)}:0`].join(',')}}]`) === first
      );
    }),
  );
});

it('a duplicate name is found at any depth and in a megabyte without delay', () => {
  const deep = `${'{"a":['.repeat(150_000)}{"b":1,"b":2}${']}'.repeat(150_000)}`;
  const quotes = `{"a":"${'\\"'.repeat(500_000)}"}`;
  const blanks = `{"a"${' '.repeat(1_000_000)}:1}`;
  // The time of this thread, which other work on the machine does not lengthen.
  const before = process.threadCpuUsage();

  expect([deep, quotes, blanks].map(repeatedName)).toEqual(['b', undefined, undefined]);
  expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
});
