import { type FastifyInstance, fastify } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { registerDocs } from '../../../../src/http/docs-page.ts';
import { openApiDocument } from '../../../../src/http/openapi/document.ts';

describe('the page', () => {
  it('takes its parts from here alone, and lets nothing in from elsewhere', async () => {
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

  it('keeps no token and asks no validator elsewhere', async () => {
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

describe('the document behind it', () => {
  it('is served as JSON', async () => {
    const app = await givenApp();

    const answer = await app.inject('/docs/openapi.json');

    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument({ version: '1.2.3' }))));
  });

  it('is in one place only, and never turned into YAML for whoever asks', async () => {
    const app = await givenApp();

    const json = await app.inject('/docs/json');
    const yaml = await app.inject('/docs/yaml');

    expect([json.statusCode, json.headers.location]).toEqual([302, '/docs/openapi.json']);
    expect(yaml.statusCode).toBe(404);
  });
});

async function givenApp(): Promise<FastifyInstance> {
  const app = fastify();
  onTestFinished(() => app.close());
  await registerDocs(app, { document: openApiDocument({ version: '1.2.3' }) });
  return app;
}
