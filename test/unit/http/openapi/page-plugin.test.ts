import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { endpoints } from '../../../../src/appliance/endpoints/table.ts';
import { openApiDocument } from '../../../../src/http/openapi/document.ts';
import { pagePlugin } from '../../../../src/http/openapi/page-plugin.ts';

it('resolves what is opened and nothing else, with no help from outside itself', async () => {
  const document = JSON.parse(JSON.stringify(openApiDocument({ version: '1' })));
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

it('answers with nothing for a path that is not there', async () => {
  const { spec } = await pagePlugin().fn.resolveSubtree({ paths: {} }, ['paths', '/nothing', 'get']);

  expect(spec).toBeUndefined();
});
