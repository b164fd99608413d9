import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDocsApp } from '../../../support/gateway-document.ts';

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

describe('the document behind it', () => {
  it('is served as JSON', async () => {
    const app = await givenApp();

    const answer = await app.inject('/docs/openapi.json');

    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  });

  it('exists once, and never as YAML', async () => {
    const app = await givenApp();

    const json = await app.inject('/docs/json');
    const yaml = await app.inject('/docs/yaml');

    expect([json.statusCode, json.headers.location]).toEqual([302, '/docs/openapi.json']);
    expect(yaml.statusCode).toBe(404);
  });
});

async function givenApp(): Promise<FastifyInstance> {
  const app = await createDocsApp('1.2.3');
  onTestFinished(() => app.close());
  return app;
}
