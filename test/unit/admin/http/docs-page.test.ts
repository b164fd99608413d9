import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endpoints } from '../../../../src/appliance/api/table.ts';
import { pagePlugin } from '../../../../src/admin/http/docs-page.ts';
import { createDocsApp, gatewayDocument } from '../../../support/gateway-document.ts';

describe('the page', () => {
  it('loads its parts from this server alone', async () => {
    const app = await givenApp();

    const page = await app.inject('/docs');

    expect(page.statusCode).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';",
    );
    const sources = [...page.payload.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source = '']) => source);
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => !source.startsWith('/docs/static/'))).toEqual([]);
    expect(page.payload).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    const answers = await Promise.all(sources.map((source) => app.inject(source)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(sources.map(() => 200));
  });

  it('stores no token and calls no external validator', async () => {
    const app = await givenApp();

    const { payload } = await app.inject('/docs/static/swagger-initializer.js');

    expect(payload).toContain('"persistAuthorization":false');
    expect(payload).toContain('"validatorUrl":null');
  });

  it.each([
    '/docs/static/../index.js',
    '/docs/static/%2e%2e/package.json',
    '/docs/static/..%2fpackage.json',
    '/docs/x',
  ])('has nothing under %s', async (path) => {
    const app = await givenApp();

    const answer = await app.inject(path);

    expect([403, 404]).toContain(answer.statusCode);
    expect(answer.payload).not.toContain('fastify-plugin');
  });
});

it('the document behind it exists once, and never as YAML', async () => {
  const app = await givenApp();

  const json = await app.inject('/docs/json');
  const yaml = await app.inject('/docs/yaml');

  expect([json.statusCode, json.headers.location]).toEqual([302, '/docs/openapi.json']);
  expect(yaml.statusCode).toBe(404);
});

describe('the plug-in of the page', () => {
  it('resolves only the opened operation, without outside help', async () => {
    const document = await gatewayDocument('1');
    const plugin: ReturnType<typeof pagePlugin> = runInNewContext(`(${pagePlugin.toString()})()`);

    const { spec, errors } = await plugin.fn.resolveSubtree(document, [
      'paths',
      '/appliances/{appliance}/farms',
      'get',
    ]);

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
});

async function givenApp(): Promise<FastifyInstance> {
  const app = await createDocsApp('1.2.3');
  onTestFinished(() => app.close());
  return app;
}
