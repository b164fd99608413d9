import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectOutput } from '../support/process.ts';

/** Holds what scripts/install-judges.ts installed because the machine did not have it. */
export const judgesFolder = fileURLToPath(new URL('../../node_modules/.cache/judges', import.meta.url));

/** Returns the path of a program, or undefined with one clear line where it is missing. */
export function judge(name: string): string | undefined {
  const path = find(name);
  if (path === undefined) console.warn(`NOT RUN: the checks by ${name}, which is not installed`);
  return path;
}

export function find(name: string): string | undefined {
  const installed = ['bin', 'python/bin'].map((place) => join(judgesFolder, place, name));
  const own = installed.find((path) => existsSync(path));
  if (own !== undefined) return own;
  const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Runs a program and returns what it printed and its exit code. */
export function run(
  program: string,
  args: readonly string[],
  input?: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 });
}

/** Runs a program that takes long, and does not block meanwhile; returns what it printed. */
export async function succeeds(program: string, words: readonly string[], options: SpawnOptions = {}): Promise<string> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = collectOutput(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return stdout().trim();
  throw new Error(`${program} ${words.join(' ')} ended with ${code}: ${(stdout() + stderr()).slice(-3_000)}`);
}

/** Prints how long it took from nothing to an exporter that Prometheus can scrape. */
export function tell(way: string, steps: number, startedAt: number): void {
  console.log(
    `from nothing to scraped, ${way}: ${steps} steps, ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
  );
}
