import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { errorCode } from '../../src/lib/check.ts';
import { feed } from './programs.ts';

/** Runs a program; returns true if it ended well. */
export function run(program: string, ...args: readonly string[]): boolean {
  return feed(program, args, Buffer.alloc(0)).status === 0;
}

/** Returns true where a disk can be mounted; says so where it cannot. */
export function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-mount-'));
  const may = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', folder);
  if (may) run('umount', folder);
  else console.warn('NOT RUN: the tests that need to mount a small disk');
  rmdirSync(folder);
  return may;
}

/** A small disk, gone with the test. */
export function givenDisk(size = '512k'): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-disk-'));
  run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'none', folder);
  onTestFinished(() => {
    run('umount', '--lazy', folder);
    rmdirSync(folder);
  });
  return folder;
}

/** Takes what room is left. */
export function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
