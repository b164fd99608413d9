import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { runExporter, startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

it('simulate prints a configuration that check accepts', async () => {
  const simulation = startExporter(['simulate']);
  const printed = await until(simulation.stdout, (seen) => seen.includes('Stop with Ctrl-C.'));
  const file = join(givenFolder(), 'zlb.yml');
  await writeFile(file, printed, { mode: 0o600 });

  const { stdout } = await runExporter(['check', `--config.file=${file}`]);

  expect(stdout).toContain('The configuration is valid: 5 appliances.');
  expect(stdout).toMatch(/^lb-paris-1 +ok +reachable, certificate pinned/m);
});
