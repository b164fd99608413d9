import { readdirSync } from 'node:fs';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { registerConsole } from '../../../../src/admin/http/gateway-pages.ts';

describe('the console', () => {
  it('loads its parts only from this server, and runs nothing else', async () => {
    const app = givenApp();

    const page = await app.inject({ url: '/console', headers: { accept: 'text/html' } });

    expect(page.statusCode).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.payload).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    const sources = [...page.payload.matchAll(/\s(?:src|href)="(\.[^"]*)"/g)].map(([, source = '']) => source.slice(1));
    expect(sources).toContain('/console/page.css');
    const parts = sources.filter((source) => source.startsWith('/console/'));
    const answers = await Promise.all(parts.map((part) => app.inject(part)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(parts.map(() => 200));
  });

  it('serves each file of its folder, and each module that one of them imports', async () => {
    const app = givenApp();
    const names = readdirSync('src/pages/console').filter((name) => name !== 'index.html');

    const answers = await Promise.all(names.map((name) => app.inject(`/console/${name}`)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(names.map(() => 200));
    const imports = answers.flatMap(({ payload }) => [...payload.matchAll(/from '\.\/([^']+)'/g)]);
    expect(imports.length).toBeGreaterThan(5);
    for (const [, name] of imports) {
      const { statusCode, headers } = await app.inject(`/console/${name}`);
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    }
  });

  it.each(['/console/../console.ts', '/console/%2e%2e/console.ts', '/console/index.html', '/console/'])(
    'serves nothing under %s',
    async (url) => {
      expect((await givenApp().inject(url)).statusCode).toBe(404);
    },
  );
});

function givenApp() {
  const app = fastify();
  registerConsole(app);
  return app;
}
