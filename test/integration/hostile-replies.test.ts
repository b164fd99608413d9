import { describe, expect, it, onTestFinished } from 'vitest';
import { createApplianceClient, type ReadKey, type UnreadableField } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { Secret } from '../../src/lib/secret.ts';
import { startHttpsServer } from '../support/tls-server.ts';

const mebibyte = 1_048_576;
const key = 'Canary/Key"0123\\Canary';

/** A client of an appliance that gives one answer to every call. */
async function given(
  body: string,
  { status = 200, type = 'application/json', bodyBytes = 8 * mebibyte, decode = createDecoder() } = {},
) {
  const server = await startHttpsServer((response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  const client = createApplianceClient({
    url: server.url,
    tls: { fingerprintSha256: server.material.fingerprintSha256, insecureSkipVerify: false },
    apiKey: new Secret(key),
    keyHeader: 'auto',
    timeoutMs: 20_000,
    maxConnections: 1,
    bodyBytes,
    decode,
    now: Date.now,
    onCall: () => undefined,
  });
  onTestFinished(() => client.close());
  return {
    read: (endpoint: ReadKey = 'listFarmStats') =>
      outcomeOf(client.read(endpoint, { farmname: 'shop' } as never, never)),
    readTolerantly: (onUnreadable: (found: readonly UnreadableField[]) => void) =>
      outcomeOf(client.read('listFarmStats', {}, never, { onUnreadable })),
  };
}

const never = new AbortController().signal;

async function outcomeOf(call: Promise<unknown>): Promise<{ reason?: string; message?: string; value?: unknown }> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof ApplianceError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}

const many = (count: number, item: string): string => Array.from({ length: count }, () => item).join(',');
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const escaped = (text: string): string =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const row =
  '{"farmname":"f","profile":"http","status":"up","vip":"192.0.2.1","vport":"80","established":1,"pending":0}';

/** Rows of different names. */
const numbered = (count: number, item: string): string =>
  Array.from({ length: count }, (_, index) => item.replace('NAME', String(index))).join(',');

describe('a reply of very many values', () => {
  it.each([
    [
      'rows without fields, with a backslash before them',
      `{"z":"\\\\","farms":[${many(1_300_000, '{}')}],"params":[]}`,
    ],
    ['rows of one field', `{"farms":[${many(500_000, '{"a":1}')}]}`],
    ['numbers', `{"farms":[],"x":[${many(3_000_000, '1')}]}`],
    ['arrays', `{"farms":[],"x":[${many(2_000_000, '[]')}]}`],
  ])('is oversize before it is parsed: %s', async (_, body) => {
    const { read } = await given(body);

    const { reason, message } = await read();

    expect(reason).toBe('oversize');
    expect(message).toMatch(/^GET \/stats\/farms: the reply holds more than \d+ values; raise limits\.body_bytes/);
  });

  it('is read for a large site: 2,500 farms with nine fields each', async () => {
    const wide = row.replace('}', ',"a":"b","c":"d"}');
    const { read } = await given(`{"farms":[${numbered(2_500, wide.replace('"f"', '"NAME"'))}]}`);

    expect((await read()).value).toMatchObject({ farms: { length: 2_500 } });
  });

  it('is read with a higher limit of bytes', async () => {
    const body = `{"params":[],"x":[${many(80_000, '1')}]}`;
    const small = await given(body);
    const large = await given(body, { bodyBytes: 16 * mebibyte });

    expect((await small.read('listBackups')).reason).toBe('oversize');
    expect((await large.read('listBackups')).value).toMatchObject({ params: [] });
  });

  it('counts no comma and no bracket inside a text', async () => {
    const { read } = await given(`{"farms":[],"note":"${'[{,\\"\\\\'.repeat(200_000)}"}`);

    expect((await read()).value).toMatchObject({ farms: [] });
  });

  it.each([
    ['farms', 'listFarmStats', 2_500, '{"farmname":"NAME"}', 'GET /stats/farms: /farms'],
    ['backends', 'readFarmStats', 1_000, '{"id":NAME}', 'GET /stats/farms/{farmname}: /backends'],
  ] as const)(
    'is malformed to who decides by it if one list has more rows than any appliance: %s',
    async (name, key, rows, item, list) => {
      const within = await given(`{"${name}":[${numbered(rows, item)}]}`);
      const beyond = await given(`{"${name}":[${numbered(rows + 1, item)}]}`);

      expect((await within.read(key)).value).toMatchObject({ [name]: { length: rows } });
      expect(await beyond.read(key)).toEqual({
        reason: 'malformed',
        message: `${list} has more than ${rows} rows; check what answers under the url of the appliance`,
      });
    },
  );

  it('keeps the reason of its status if it is an error, without a message', async () => {
    const { read } = await given(`{"x":[${many(2_000_000, '[]')}],"message":"no"}`, { status: 500 });

    expect(await read()).toEqual({
      reason: 'server_error',
      message: 'GET /stats/farms: the appliance answered 500',
    });
  });
});

it('keeps all other rows of a list with an odd one, and tells what it left out, without the key', async () => {
  const odd = `{"farmname":"b","established":"${key.replaceAll(/["\\]/g, '\\$&')}"},{"status":"up"}`;
  const { read, readTolerantly } = await given(`{"farms":[${row},${odd}]}`);
  const lost: UnreadableField[] = [];

  const { value } = await readTolerantly((found) => lost.push(...found));

  expect(value).toMatchObject({
    farms: [
      { farmname: 'f', established: 1 },
      { farmname: 'b', established: null },
    ],
  });
  expect(lost).toEqual([
    { endpoint: '/stats/farms', field: 'established', count: 1, example: '"[redacted]"' },
    { endpoint: '/stats/farms', field: 'farmname', count: 1, example: '{"status":"up"}' },
  ]);
  expect(await read()).toMatchObject({ reason: 'malformed' });
});

it('yields to other work between decoding and use', async () => {
  const order: string[] = [];
  const decode = createDecoder();
  const { read } = await given(`{"farms":[${many(2_500, row)}]}`, {
    decode(schema, reply) {
      setImmediate(() => order.push('other work'));
      return decode(schema, reply);
    },
  });

  await read();
  order.push('reply');

  expect(order).toEqual(['other work', 'reply']);
});

describe('a reply that is nested', () => {
  it.each([33, 20_000, 4_000_000])('%i deep is malformed', async (depth) => {
    const { read } = await given(`{"farms":[],"x":${nested(depth - 1)}}`);

    expect(await read()).toEqual({
      reason: 'malformed',
      message: 'GET /stats/farms: the body is nested more than 32 deep, which no reply of the API is',
    });
  });

  it('32 deep is read', async () => {
    const { read } = await given(`{"farms":[],"x":${nested(31)}}`);

    expect((await read()).value).toMatchObject({ farms: [] });
  });
});

describe('the key in a reply', () => {
  it('written in escapes stays hidden despite deep nesting', async () => {
    const { read } = await given(`{"farms":[{"farmname":"${escaped(key)}"}],"x":${nested(20_000)}}`);

    const seen = await read();

    expect(JSON.stringify(seen)).not.toContain('Canary');
    expect(seen.reason).toBe('malformed');
  });

  it.each([
    ['in escapes of four digits', escaped(key)],
    ['in escapes with capital digits', escaped(key).replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())],
    ['as JSON.stringify writes it', JSON.stringify(key).slice(1, -1)],
    ['with an escaped slash', JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/')],
    ['in escapes of both kinds', `C\\u0061nary\\/${escaped('Key')}\\"0123\\u005cCanary`],
  ])('is removed from names, members and messages: %s', async (_, spelled) => {
    const farms = await given(`{"farms":[{"farmname":"a ${spelled} b","${spelled}":1}]}`);
    const refused = await given(`{"message":"no ${spelled}"}`, { status: 403 });

    const { value } = await farms.read();

    expect(value).toEqual({ farms: [{ farmname: 'a [redacted] b', '[redacted]': 1 }] });
    expect(await refused.read()).toEqual({
      reason: 'forbidden',
      message: 'GET /stats/farms: the appliance answered 403: no [redacted]',
    });
  });
});
