import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the first path of the admin listener', () => {
  it('leads a browser to its pages, without a token', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', '/', { as: 'none', headers: { accept: browser } });

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect([...answer.text.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href)).toEqual(['./console', './docs']);
    for (const page of ['/console', '/docs']) expect((await call('GET', page, { as: 'none' })).status).toBe(200);
  });

  it('wants the token of any other caller, and is no operation', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    for (const [method, accept, status] of [
      ['GET', '*/*', 404],
      ['GET', 'application/json, text/html;q=0.5', 404],
      ['PUT', browser, 405],
    ] as const) {
      expect((await call(method, '/', { as: 'none', headers: { accept } })).status, accept).toBe(401);
      expect((await call(method, '/', { headers: { accept } })).status, accept).toBe(status);
    }
  });
});
