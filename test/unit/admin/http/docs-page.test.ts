import { readdirSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDocsApp } from '../../../support/gateway-document.ts';

describe('the page of all operations', () => {
  it('loads its parts only from this server, and runs nothing else', async () => {
    const app = await givenApp();

    const page = await app.inject('/docs');

    expect(page.statusCode).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.payload).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    const sources = [...page.payload.matchAll(/\s(?:src|href)="\.([^"]*)"/g)].map(([, source = '']) => source);
    const parts = sources.filter((source) => source.startsWith('/docs/'));
    expect(parts).toContain('/docs/page.css');
    const answers = await Promise.all(parts.map((part) => app.inject(part)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(parts.map(() => 200));
  });

  it('serves each file of its folder, and each module that one of them imports', async () => {
    const app = await givenApp();
    const names = readdirSync('src/pages/docs').filter((name) => name !== 'index.html');

    const answers = await Promise.all(names.map((name) => app.inject(`/docs/${name}`)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(names.map(() => 200));
    const imports = answers.flatMap(({ payload }) => [...payload.matchAll(/from '\.\/([^']+)'/g)]);
    expect(imports.length).toBeGreaterThan(3);
    for (const [, name] of imports) expect((await app.inject(`/docs/${name}`)).statusCode).toBe(200);
  });

  it.each(['/docs/../docs-page.ts', '/docs/%2e%2e/package.json', '/docs/index.html', '/docs/x'])(
    'serves nothing under %s',
    async (path) => {
      const app = await givenApp();

      expect((await app.inject(path)).statusCode).toBe(404);
    },
  );
});

async function givenApp(): Promise<FastifyInstance> {
  const app = await createDocsApp('1.2.3');
  onTestFinished(() => app.close());
  return app;
}
