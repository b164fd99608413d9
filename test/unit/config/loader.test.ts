import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSettingsLoader } from '../../../src/config/load.ts';
import { collectorDefaults, operations, refusal, reservedLabels } from './given-config.ts';
import { givenFolder } from '../../support/folder.ts';

it('a loader keeps nothing from one configuration to the next', async () => {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  const load = createSettingsLoader({ collectorDefaults, reservedLabels, operations });
  const loading = async (rest: string) => {
    await writeFile(file, `appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]\n${rest}`);
    return await load({ file, env: {} });
  };

  const first = await loading('');
  const refusals = [
    await refusal(loading('polling: { timeout: soon }\n')),
    await refusal(loading('limits: { series_per_appliance: many }\n')),
  ];
  await loading('polling: { timeout: 5s }\nlimits: { series_per_appliance: 700 }\n');
  const last = await loading('');

  expect(refusals.map((lines) => lines.length)).toEqual([1, 1]);
  expect(refusals[0]?.[0]).toContain('polling.timeout');
  expect(refusals[1]?.[0]).toContain('limits.series_per_appliance');
  expect(last).toEqual(first);
});
