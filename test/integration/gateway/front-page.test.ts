import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';

it('the root path of the admin listener links to its pages, without a token', async () => {
  const { call } = await givenGateway({ 'lb-1': busyWorld() });

  const first = await call('GET', '/', { as: 'none' });
  const page = await call('GET', '/console', { as: 'none' });

  expect([first.status, first.headers['location'], first.text]).toEqual([302, './console', '']);
  expect(page.text).toContain('<a href="./docs">');
  for (const path of ['/console', '/docs']) expect((await call('GET', path, { as: 'none' })).status).toBe(200);
  expect((await call('PUT', '/', { as: 'none' })).status).toBe(405);
});
