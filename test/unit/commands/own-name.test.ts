import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { ownName, createCommandNamer } from '../../../src/commands/shell.ts';
import { givenFolder } from '../../support/folder.ts';
import { givenContext } from './given-command.ts';

it.each([
  [pathToFileURL('src/main.ts').href, {}, './zlb-exporter'],
  [pathToFileURL('../other/src/main.ts').href, {}, resolve('../other/zlb-exporter')],
  ['file:///app/dist/src/main.js', {}, 'zlb-exporter'],
  [
    'file:///home/ann/.npm/_npx/1f/node_modules/zlb-exporter/dist/src/main.js',
    { npm_command: 'exec' },
    '/home/ann/.npm/_npx/1f/node_modules/.bin/zlb-exporter',
  ],
])('the program name shown for %s with %j is %s', (entry, env, name) => {
  expect(ownName(entry, '/home/ann/.npm/_npx/1f/node_modules/.bin/zlb-exporter', env)).toBe(name);
});

it('the program name is replaced in commands, but not where it means the program itself', () => {
  const withCommandName = createCommandNamer('./zlb-exporter', ['admin', 'check']);

  expect(
    withCommandName('zlb-exporter: 401; see zlb-exporter check --help, or zlb-exporter --config.file=zlb.yml'),
  ).toBe('zlb-exporter: 401; see ./zlb-exporter check --help, or ./zlb-exporter --config.file=zlb.yml');
  expect(withCommandName('zlb-exporter 0.1.0, zlb-exporter admins, zlb-exporter watches')).not.toContain('./');
});

it('the program name is used in the help and in error messages', async () => {
  const { context, said, warned } = givenContext({});
  const edge = { ...context, name: './zlb-exporter' };

  await runCommandLine(['check', '--help'], edge);
  await runCommandLine(['check', '--dry-run'], edge);

  expect(said.join('\n')).toMatch(/^Usage: \.\/zlb-exporter check /);
  expect(warned).toEqual([
    'zlb-exporter: --dry-run is only valid with ./zlb-exporter admin; ./zlb-exporter admin --help explains it',
  ]);
});

it('zlb-exporter at the top of a clone starts it from any folder, also by a link', () => {
  const folder = givenFolder();
  symlinkSync(resolve('zlb-exporter'), join(folder, 'zlb'));

  const { status, stdout, stderr } = spawnSync('sh', ['-c', './zlb check'], { cwd: folder, encoding: 'utf8' });

  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('nothing to check') as string,
  });
});
