import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, it } from 'vitest';
import { isThere } from '../support/programs.ts';

const folder = fileURLToPath(new URL('../../alerts/tests/', import.meta.url));
const testFiles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.yml'),
);

describe.skipIf(!isThere('promtool'))('the alert rules in promtool', () => {
  // At once: each is a process of its own, and the machine has several cores.
  it.concurrent.for(testFiles)('pass the test cases of %s', { timeout: 600_000 }, async (file, { signal }) => {
    await promisify(execFile)('promtool', ['test', 'rules', folder + file], { signal });
  });
});
