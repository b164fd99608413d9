import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { endpoints } from '../../../../src/appliance/api/table.ts';
import { pagePlugin } from '../../../../src/http/docs-page.ts';
import { gatewayDocument } from '../../../support/gateway-document.ts';

it('resolves only the opened operation, without outside help', async () => {
  const document = await gatewayDocument('1');
  const plugin: ReturnType<typeof pagePlugin> = runInNewContext(`(${pagePlugin.toString()})()`);

  const { spec, errors } = await plugin.fn.resolveSubtree(document, ['paths', '/appliances/{appliance}/farms', 'get']);

  expect(errors).toEqual([]);
  expect(spec).toMatchObject({
    operationId: 'listFarms',
    summary: endpoints.listFarms.summary,
    parameters: [{ name: 'appliance', in: 'path' }],
    responses: { default: { content: { 'application/problem+json': { schema: { properties: { code: {} } } } } } },
  });
  expect(JSON.stringify(spec)).not.toContain('$ref');
});

it('returns nothing for an unknown path', async () => {
  const { spec } = await pagePlugin().fn.resolveSubtree({ paths: {} }, ['paths', '/nothing', 'get']);

  expect(spec).toBeUndefined();
});
