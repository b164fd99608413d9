import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { ownName, spokenAs } from '../../../src/commands/shell.ts';
import { givenContext } from './given-command.ts';

describe('the name of the program for its user', () => {
  it.each([
    ['file:///home/ann/zlb-exporter/src/main.ts', {}, 'npm start --silent --'],
    ['file:///app/dist/src/main.js', {}, 'zlb-exporter'],
    [
      'file:///home/ann/.npm/_npx/1f/node_modules/zlb-exporter/dist/src/main.js',
      { npm_command: 'exec' },
      '/home/ann/.npm/_npx/1f/node_modules/.bin/zlb-exporter',
    ],
  ])('of %s with %j is %s', (entry, env, name) => {
    expect(ownName(entry, '/home/ann/.npm/_npx/1f/node_modules/.bin/zlb-exporter', env)).toBe(name);
  });

  it('is used in commands, not for the program itself', () => {
    const spoken = spokenAs('npm start --silent --', ['admin', 'check']);

    expect(spoken('zlb-exporter: 401; see zlb-exporter check --help, or zlb-exporter --config.file=zlb.yml')).toBe(
      'zlb-exporter: 401; see npm start --silent -- check --help, or npm start --silent -- --config.file=zlb.yml',
    );
    expect(spoken('zlb-exporter 0.1.0, zlb-exporter admins, zlb-exporter watches')).not.toContain('npm');
  });

  it('is in the help and in messages about mistakes', async () => {
    const { context, said, warned } = givenContext({});
    const edge = { ...context, name: 'npm start --silent --' };

    await runCommandLine(['check', '--help'], edge);
    await runCommandLine(['check', '--dry-run'], edge);

    expect(said.join('\n')).toMatch(/^Usage: npm start --silent -- check /);
    expect(warned).toEqual([
      'zlb-exporter: --dry-run is only valid with npm start --silent -- admin; npm start --silent -- admin --help explains it',
    ]);
  });
});
