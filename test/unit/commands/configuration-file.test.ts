import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { configurationFile } from '../../../src/commands/configuration-file.ts';
import { givenFolder } from '../../support/folder.ts';
import { givenContext } from './given-command.ts';

it('the configuration comes from the flag, then ZLB_CONFIG_FILE, then the installation', () => {
  const installed = join(givenFolder(), 'zlb.yml');
  const env = { ZLB_CONFIG_FILE: '/b.yml' };

  expect(configurationFile({ flags: { 'config.file': '/a.yml' }, env }, installed)).toBe('/a.yml');
  expect(configurationFile({ flags: {}, env }, installed)).toBe('/b.yml');
  expect(configurationFile({ flags: {}, env: {} }, installed)).toBeUndefined();
  writeFileSync(installed, '');
  expect(configurationFile({ flags: {}, env: {} }, installed)).toBe(installed);
});

it('an appliance from the environment takes precedence over the configuration of an installation', () => {
  const installed = join(givenFolder(), 'zlb.yml');
  writeFileSync(installed, '');

  expect(configurationFile({ flags: {}, env: { ZLB_APPLIANCE_URL: 'https://192.0.2.1' } }, installed)).toBeUndefined();
});

it('a configuration that cannot be accessed is not replaced by simulated appliances', () => {
  const path = join(givenFolder(), 'x'.repeat(300));

  expect(configurationFile({ flags: {}, env: {} }, path)).toBe(path);
});

it('check --offline validates the file of ZLB_CONFIG_FILE, and contacts no appliance', async () => {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  writeFileSync(join(folder, 'key'), 'secret');
  writeFileSync(file, 'appliances:\n  - {name: lb-1, url: "https://127.0.0.1:1", api_key_file: key}\n');
  const run = async () => {
    const { context, said, warned } = givenContext({ env: { ZLB_CONFIG_FILE: file } });
    return { code: await runCommandLine(['check', '--offline'], context), text: [...said, ...warned].join('\n') };
  };

  expect(await run()).toEqual({ code: 0, text: expect.stringContaining('No appliance was asked.') as string });

  writeFileSync(file, 'appliancs: []\n');
  expect(await run()).toEqual({ code: 2, text: expect.stringContaining(`${file}:1`) as string });
});

it('demo accepts no configuration', async () => {
  const { context, warned } = givenContext({});

  expect(await runCommandLine(['demo', '--config.file=zlb.yml'], context)).toBe(2);
  expect(warned).toEqual([
    'zlb-exporter: --config.file is for the exporter itself and not valid with demo; see demo --help',
  ]);
});
