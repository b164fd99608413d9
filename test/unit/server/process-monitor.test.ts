import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Opens all files that the process may have, and lets the monitor measure; prints what it read. */
const script = `
import { openSync } from 'node:fs';
import { mock } from 'node:test';
import { createProcessMonitor } from './src/server/process-monitor.ts';

mock.timers.enable({ apis: ['setInterval'] });
const monitor = createProcessMonitor(Date.now);
const before = monitor.read();
try {
  for (;;) openSync('/dev/null');
} catch {
  mock.timers.tick(10_000);
}
console.log(monitor.read() !== before && monitor.read().memoryBytes === before.memoryBytes);
`;

it('the process monitor keeps the last memory value while the process has too many files open', async () => {
  const words = ['-c', 'ulimit -n 64; exec "$0" --input-type=module-typescript -e "$1"', process.execPath, script];

  const { stdout } = await promisify(execFile)('sh', words);

  expect(stdout).toBe('true\n');
});
