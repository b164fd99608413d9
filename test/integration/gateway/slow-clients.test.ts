import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { targetOf } from './given-target.ts';
import { until, untilIs } from '../../support/until.ts';

const actions = '/appliances/lb-1/farms/shop/actions';
const language = '/appliances/lb-1/system/language';
const backup = '/appliances/lb-1/system/backup/one';

/** A client that sends the beginning of a request, and what the test adds. */
function openRequest(url: string, token: string, lines: readonly string[]) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  socket.on('error', () => undefined).on('data', (chunk) => (text += chunk.toString('latin1')));
  onTestFinished(() => void socket.destroy());
  const [first = '', ...headers] = lines;
  const common = ['Host: gateway', `Authorization: Bearer ${token}`];
  socket.write([`${first} HTTP/1.1`, ...common, ...headers, '', ''].join('\r\n'));
  return { socket, text: () => text };
}

/** An upload that has sent so many bytes, and not its last one. */
function openUpload(url: string, token: string, bytes: number) {
  const lines = [`PUT ${backup}`, 'Content-Type: application/gzip', `Content-Length: ${bytes + 1}`];
  const { socket, text } = openRequest(url, token, lines);
  socket.write(Buffer.alloc(bytes));
  return { socket, text };
}

describe('an unfinished upload', () => {
  it('does not block other changes to the appliance', async () => {
    const { url, call, tokenOf, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    const uploads = [1, 2].map(() => openUpload(url, tokenOf('operator'), 100_000));
    for (const { socket } of uploads) await untilIs(() => socket.writableLength, 0);

    const stopped = await call('PUT', actions, { json: { action: 'stop' } });

    expect(stopped.status).toBe(200);
    expect(
      uploads.map(({ text }) => text()),
      'they are still under way',
    ).toEqual(['', '']);
    expect(appliance.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  it('uses at most the memory share of its token, and frees it when its sender disconnects', async () => {
    const { url, call, tokenOf } = await givenGateway({ 'lb-1': busyWorld() });
    const bytes = 25_000_000;
    const upload = async (as: 'operator' | 'admin') =>
      (await call('PUT', backup, { as, type: 'application/gzip', body: Buffer.alloc(bytes) })).json?.code;
    const unfinished = openUpload(url, tokenOf('operator'), bytes);
    await untilIs(() => unfinished.socket.writableLength, 0);

    expect(
      await until(
        () => upload('operator'),
        (code) => code !== undefined,
      ),
    ).toBe('too_many_bodies');
    expect(await upload('admin')).toBeUndefined();
    unfinished.socket.destroy();
    await untilIs(() => upload('operator'), undefined);
  });
});

describe('a freeze', () => {
  const freeze = ['PUT', '/freeze', { headers: { 'x-reason': 'incident' } }] as const;

  it('cuts an upload that is being sent, and its outcome is uncertain', async () => {
    const paused: Socket[] = [];
    const server = await startHttpsServer((response, request) => {
      if (request.method === 'GET') return void response.end('{}');
      paused.push(request.socket.pause());
    });
    const { call, audit } = await givenGateway({}, { target: targetOf(server) });
    const upload = call('PUT', backup, { type: 'application/gzip', body: Buffer.alloc(16_000_000), as: 'operator' });
    await untilIs(() => paused.length, 1);

    expect((await call(...freeze)).status).toBe(200);

    const answer = await upload;
    expect(answer).toMatchObject({ status: 423, json: { code: 'frozen' } });
    expect(answer.json?.detail).toContain('cut while it was being sent');
    expect((await audit()).find(({ event }) => event === 'outcome')).toMatchObject({ code: 'frozen', uncertain: true });
  });
});

it("an admin's stop of a farm overtakes waiting changes, but not the running one", async () => {
  const arrived: ServerResponse[] = [];
  const server = await startHttpsServer((response, request) => {
    request.resume();
    if (request.method === 'GET') response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    else arrived.push(response);
  });
  const { call } = await givenGateway({}, { target: targetOf(server) });
  const calls = [call('POST', language, { json: { language: 'en' } })];
  await untilIs(() => arrived.length, 1);
  calls.push(call('POST', '/appliances/lb-1/system/dns', { json: { primary: '192.0.2.1' } }));
  calls.push(call('PUT', actions, { as: 'operator', json: { action: 'stop' } }));
  await call('GET', '/appliances/lb-1/farms');
  calls.push(call('PUT', '/appliances/lb-1/farms/db/actions', { json: { action: 'stop' } }));
  await call('GET', '/appliances/lb-1/farms');

  for (let count = 1; count <= 4; count += 1) {
    await untilIs(() => arrived.length, count);
    arrived[count - 1]?.end('{}');
  }

  await Promise.all(calls);
  const urls = arrived.map(({ req }) => req.url?.split('/').slice(-2).join('/'));
  expect(urls).toEqual(['system/language', 'db/actions', 'system/dns', 'shop/actions']);
});

it('a caller that reads its response slowly holds no slot, so that other reads pass', async () => {
  const long = Buffer.alloc(15_000_000, '{"x":1}');
  const path = '/appliances/lb-1/farms/shop/services/front/sessions';
  const server = await startHttpsServer((response, asked) => {
    const body = asked.url?.endsWith('/sessions') ? long : Buffer.from('{}');
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const options = { target: targetOf(server), admin: { maxConcurrentPerAppliance: 2 } };
  const { url, call, tokenOf } = await givenGateway({}, options);
  const readers = [1, 2].map(() => {
    const { socket, text } = openRequest(url, tokenOf('viewer'), [`GET ${path}`]);
    socket.once('data', () => socket.pause());
    return { socket, text };
  });
  for (const { text } of readers) await until(text, (seen) => seen !== '');

  const read = await call('GET', '/appliances/lb-1/farms');
  const whole = await call('GET', path);

  expect(read.status).toBe(200);
  expect(whole.bytes.equals(long)).toBe(true);
  expect(
    readers.map(({ socket }) => socket.destroyed),
    'they still read',
  ).toEqual([false, false]);
});
