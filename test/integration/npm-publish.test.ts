import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { givenFolder } from '../support/folder.ts';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly env?: object }[];
}

const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8')) as { jobs: Record<string, Job> };
const publish = jobs['publish'];
const step = publish?.steps.find(({ run }) => run?.startsWith('npm publish'));
// The first npm that trades the word of a workflow for a token.
const [major = 0, minor = 0] = spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout.split('.').map(Number);
const canTrade = major > 11 || (major === 11 && minor >= 6);
if (!canTrade) console.warn('NOT RUN: the tests that need npm 11.6');

/** The word of a workflow of a private repository, for which npm signs no provenance. */
const word = ['{}', '{"repository_visibility":"private"}', 'x'].map((part) => Buffer.from(part).toString('base64url'));

/** Stands for GitHub, which vouches for its workflow, and for npm, which takes its package. */
async function givenGitHubAndNpm() {
  const published: { readonly path: string | undefined; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => void answer(request).then((json) => response.end(json)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, published };

  async function answer({ url, method, headers }: IncomingMessage): Promise<string> {
    if (url?.startsWith('/word')) return JSON.stringify({ value: word.join('.') });
    if (url?.includes('/oidc/token/exchange/')) return JSON.stringify({ token: 'of-one-publication' });
    if (method === 'PUT') published.push({ path: url, authorization: headers.authorization });
    return '{}';
  }
}

it('the release workflow stores no token, and may sign provenance', () => {
  expect(publish?.permissions).toMatchObject({ 'id-token': 'write' });
  expect(step?.env).toBeUndefined();
  expect(readFileSync('.github/workflows/release.yml', 'utf8')).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/);
});

it.skipIf(!canTrade)('the publish step uses npm with the settings of a clone and nothing else', async () => {
  const { url, published } = await givenGitHubAndNpm();
  const folder = givenFolder();
  mkdirSync(join(folder, 'release'));
  writeFileSync(join(folder, '.npmrc'), readFileSync('.npmrc'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'zlb-exporter', version: '1.2.3' }));
  spawnSync('npm', ['pack', '--pack-destination', 'release'], { cwd: folder });
  const clean = Object.entries(process.env).filter(([name]) => !/^npm_|^node_auth/i.test(name));
  const env = {
    ...Object.fromEntries(clean),
    npm_config_registry: url,
    npm_config_userconfig: join(folder, 'none'),
    npm_config_cache: join(folder, 'cache'),
    GITHUB_ACTIONS: 'true',
    ACTIONS_ID_TOKEN_REQUEST_URL: `${url}word?`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-run',
  };

  const child = spawn('bash', ['-c', step?.run ?? ''], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = await text(child.stderr);

  expect(published, said).toEqual([{ path: '/zlb-exporter', authorization: 'Bearer of-one-publication' }]);
});
