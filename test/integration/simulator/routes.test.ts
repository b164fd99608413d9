import { expect, it } from 'vitest';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { parseRoute } from '../../../src/appliance/route.ts';
import { handlers } from '../../../simulator/handlers.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenSimulated } from '../../support/simulated.ts';

it('has handlers for routes of the table alone', () => {
  const routes = new Set<string>(Object.values(endpoints).map(({ route }) => route));

  expect(Object.keys(handlers).filter((route) => !routes.has(route))).toEqual([]);
});

it('answers every route of the table on an Enterprise appliance with something else than "no such route"', async () => {
  const { call, world } = await givenSimulated(busyWorld());
  const { installed } = world.activation;
  const missing: string[] = [];
  for (const { route, body } of Object.values(endpoints)) {
    const { method, template } = parseRoute(route);
    const path = template.replaceAll(/\{[^}]+\}/g, '1');
    const content =
      method === 'POST' || method === 'PUT'
        ? { body: '{"a":"b"}', type: body === 'pem' || body === 'text' ? 'text/plain' : 'application/json' }
        : {};
    // One of the routes removes the licence.
    world.activation.installed = installed;
    const answer = await call(method, path, content);
    if ([402, 403, 415].includes(answer.status)) missing.push(`${route} answers ${answer.status}`);
    if (answer.text.includes('Request not found')) missing.push(route);
  }
  expect(missing.sort()).toEqual(['GET /stats/farms/modules', 'GET /stats/farms/total']);
});
