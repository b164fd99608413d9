import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isThere } from '../../support/programs.ts';
import { givenFile } from '../../unit/admin/journal/given-journal.ts';

// No kill of a process shows it: what the kernel has is on disk in the end. A power cut would.
it.skipIf(!isThere('strace'))('each record is fsynced, in the order of system calls, before it is acknowledged', () => {
  const file = givenFile();
  const trace = join(dirname(file), 'trace');
  const program = fileURLToPath(new URL('./writer.ts', import.meta.url));

  const { status } = spawnSync(
    'strace',
    ['-f', '-y', '-qq', '-o', trace, '-e', 'trace=fsync,fdatasync,write,pwrite64', process.execPath, program, file],
    { stdio: ['pipe', 'pipe', 'inherit'], input: 'record\n'.repeat(5) },
  );
  const calls = readFileSync(trace, 'utf8').split('\n').map(nameOf(file));

  expect(status).toBe(0);
  const [first = [], ...others] = betweenAcknowledgements(calls);
  expect(first).toEqual(expect.arrayContaining(['folder synced', 'log written', 'log synced']));
  expect(others).toHaveLength(4);
  for (const each of others) {
    expect(each).toContain('log written');
    expect(each.indexOf('log synced')).toBeGreaterThan(each.indexOf('log written'));
  }
});

/** Returns a function that names a system call, or '' for one that is of no matter. */
function nameOf(file: string): (line: string) => string {
  return (line) => {
    if (/ write\(1</.test(line)) return line.includes('"written') ? 'acknowledged' : '';
    const [, call = '', path] = /^\d+ +(\w+)\(\d+<([^>]*)>/.exec(line) ?? [];
    const done = call.endsWith('write') || call === 'pwrite64' ? 'written' : 'synced';
    if (path === `${file}-wal`) return `log ${done}`;
    return path === dirname(file) ? `folder ${done}` : '';
  };
}

/** Splits calls at each acknowledgement; what comes after the last one is left out. */
function betweenAcknowledgements(calls: readonly string[]): readonly (readonly string[])[] {
  return calls
    .filter(Boolean)
    .join(',')
    .split('acknowledged')
    .slice(0, -1)
    .map((part) => part.split(',').filter(Boolean));
}
