import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';
import { until } from '../../support/until.ts';

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe('bodies that never end', () => {
  const half = (token: string) =>
    [
      'PUT /appliances/lb-1/farms/shop/actions HTTP/1.1',
      'Host: gateway',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Content-Length: 17',
      '',
      '{"action":',
    ].join('\r\n');

  it('block neither other callers of the same address nor a freeze, on 400 connections of one caller', async () => {
    const { url, call, tokenOf, audit } = await givenGateway({ 'lb-1': busyWorld() }, { admin: { timeoutMs: 60_000 } });
    const sockets = Array.from({ length: 400 }, () => {
      const socket = openSocket(url);
      socket.write(half(tokenOf('operator')));
      return socket;
    });
    const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
    await until(open, (count) => count <= 32);

    const { text: refused } = await exchangeRaw(url, half(tokenOf('operator')));
    const whole = await call('PUT', '/appliances/lb-1/farms/shop/actions', {
      as: 'operator',
      json: { action: 'stop' },
    });
    const viewer = await call('GET', '/appliances/lb-1/farms/shop/status', { as: 'viewer' });
    const freeze = await call('PUT', '/freeze', { headers: { 'x-reason': 'incident 9' } });

    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toContain('connection: close\r\n');
    expect(refused).toMatch(/"code":"too_many_bodies".*"remedy":"[^"]*\w/);
    expect([whole.status, viewer.status, freeze.status]).toEqual([200, 200, 200]);
    // The bodies still wait: the others did not have to wait for their end.
    expect(open()).toBe(32);
    const codes = (await audit()).map(({ code }) => code).filter((code) => code !== undefined);
    expect(new Set(codes)).toEqual(new Set(['too_many_bodies']));
  });

  it('release their slots when their connections end or time out', async () => {
    const { url, tokenOf, call } = await givenGateway({ 'lb-1': busyWorld() }, { admin: { timeoutMs: 10_000 } });
    const sockets = Array.from({ length: 32 }, () => openSocket(url));
    for (const socket of sockets) socket.write(half(tokenOf('operator')));
    const slow = `PUT /appliances/lb-1/farms/shop/actions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${tokenOf('operator')}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n`;
    /** A body that comes after its headers, as some clients send it. */
    const inTwoParts = async () => {
      const socket = openSocket(url);
      const text = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
      await new Promise<void>((resolve) => socket.write(slow, () => resolve()));
      await call('GET', '/whoami');
      socket.write('{"action":"stop"}');
      return (await text).slice(0, 12);
    };

    await until(inTwoParts, (answer) => answer === 'HTTP/1.1 429');
    const afterwards = await until(inTwoParts, (answer) => answer === 'HTTP/1.1 200');

    expect(afterwards).toBe('HTTP/1.1 200');
  });
});

describe('connections to the gateway', () => {
  it('have their own limit, separate from that of the metrics listener', async () => {
    const { url, metricsUrl } = await givenGateway({ 'lb-1': busyWorld() });

    const sockets = Array.from({ length: 300 }, () => openSocket(url));
    const closed = () => sockets.filter(({ destroyed }) => destroyed).length;
    await until(closed, (count) => count >= 44);

    expect((await fetch(`${metricsUrl}/-/healthy`)).status).toBe(200);
  });

  it.each([
    ['an unknown Expect header', 'Host: gateway\r\nExpect: coffee\r\n', 417, 'malformed_header'],
    ['no host', '', 400, 'malformed_request'],
    ['two hosts', 'Host: gateway\r\nHost: gateway\r\n', 400, 'malformed_request'],
  ])('get a regular refusal for a request with %s', async (_, headers, status, code) => {
    const { url, tokenOf } = await givenGateway({ 'lb-1': busyWorld() });

    const { text, statuses } = await exchangeRaw(
      url,
      `GET /whoami HTTP/1.1\r\nAuthorization: Bearer ${tokenOf('viewer')}\r\nConnection: close\r\n${headers}\r\n`,
    );

    expect(statuses).toEqual([status]);
    expect(text).toContain('content-type: application/problem+json\r\n');
    expect(text).toContain(`"code":"${code}"`);
  });
});
