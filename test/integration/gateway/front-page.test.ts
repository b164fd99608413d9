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
    expect((await call('GET', '/console', { as: 'none' })).status).toBe(200);
  });

  it.each([
    ['of a program that takes anything', 'GET', '*/*'],
    ['of a program that prefers JSON', 'GET', 'application/json, text/html;q=0.5'],
    ['of a browser that does not want to read', 'PUT', browser],
  ])('wants the token %s, and is no operation', async (_, method, accept) => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const without = await call(method, '/', { as: 'none', headers: { accept } });
    const answer = await call(method, '/', { as: 'admin', headers: { accept } });

    expect(without).toMatchObject({ status: 401, json: { code: 'unauthenticated' } });
    expect(answer).toMatchObject(
      method === 'GET'
        ? { status: 404, json: { code: 'unknown_path' } }
        : { status: 405, json: { code: 'method_not_allowed' } },
    );
  });
});
