import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../src/simulator/scenarios.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

function answerOf(url: string, request: string): Promise<string> {
  const socket = openSocket(url);
  socket.write(request);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.once('close', () => resolve(text));
  });
}

describe('connections to the gateway', () => {
  it('that never ask for anything are closed, and are not more than it can bear', async () => {
    const { url, metricsUrl } = await givenGateway({ 'lb-1': busyWorld() });

    const sockets = Array.from({ length: 300 }, () => openSocket(url));
    const closed = () => sockets.filter(({ destroyed }) => destroyed).length;
    const refusedAtOnce = await until(closed, (count) => count >= 44);
    const page = await fetch(`${metricsUrl}/-/healthy`);
    await until(closed, (count) => count === 300, 20_000);

    expect(refusedAtOnce).toBeLessThan(300);
    expect(page.status).toBe(200);
  });

  it.each([
    ['an expectation that nobody can meet', 'Host: gateway\r\nExpect: coffee\r\n', 417, 'malformed_header'],
    ['no host', '', 400, 'malformed_request'],
    ['two hosts', 'Host: gateway\r\nHost: elsewhere\r\n', 400, 'malformed_request'],
    ['the same host twice', 'Host: gateway\r\nhost: gateway\r\n', 400, 'malformed_request'],
  ])('with %s are answered like any other refusal', async (_, headers, status, code) => {
    const { url, tokenOf } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await answerOf(
      url,
      `GET /whoami HTTP/1.1\r\nAuthorization: Bearer ${tokenOf('viewer')}\r\nConnection: close\r\n${headers}\r\n`,
    );

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('content-type: application/problem+json\r\n');
    expect(answer).toContain(`"code":"${code}"`);
  });
});
