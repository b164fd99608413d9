import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { absolute } from '../../../bench/results.ts';
import { runStep } from '../../../bench/step.ts';
import { givenFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';

const result = absolute({ name: 'memory', unit: 'MB', value: 12, atMost: 20 });

/** A step that starts a program, which would go on for ever, and then does this. */
function stepThat(does: string) {
  const file = join(givenFolder(), 'pid');
  const code = `
    const { spawn } = require('node:child_process');
    const started = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(file)}, String(started.pid));
    ${does}`;
  return { words: ['-e', code], startedPid: () => Number(readFileSync(file, 'utf8')) };
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a step of the benchmark', () => {
  it.each([
    ['is over', `console.log(${JSON.stringify(JSON.stringify([result]))}); process.exit(0)`, 60, [result]],
    ['fails', 'process.exit(3)', 60, [{ name: 'pages: ended with 3', unit: 's', goal: 'measured', held: false }]],
    ['hangs', '', 3, [{ name: 'pages: not over after 3 s', unit: 's', goal: 'measured', held: false }]],
  ])('reports its rows, and leaves nothing running, when it %s', async (_, does, maxSeconds, rows) => {
    const { words, startedPid } = stepThat(does);

    const results = await runStep({ name: 'pages', words, maxSeconds });

    expect(results).toEqual(rows);
    await until(
      () => isThere(startedPid()),
      (is) => !is,
      10_000,
    );
  });
});
