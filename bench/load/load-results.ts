import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compare, type Result } from '../results.ts';
import type { LoadInput, MeasuredLoad } from './measure-load.ts';

/** The last commit before the budget of routine readings. */
const before = '584d9b54';
/** Its `checkAnswer` takes a decoder. */
const checkAnswerBefore = `
import { checkAnswer as check } from '../../src/appliance/answer.ts';
import { createDecoder } from '../../src/appliance/decode.ts';

const decode = createDecoder();
export const checkAnswer = (answer, expected) => check(answer, expected, decode);
`;
const repository = fileURLToPath(new URL('../..', import.meta.url));
const script = 'bench/load/measure-load.ts';
/** The goals of seconds per minute, as ratios to the commit before. */
const sizes = [
  { farms: 11, atMost: 0.6, deaths: 40 },
  { farms: 60, atMost: 0.4, deaths: 40 },
  { farms: 300, atMost: 0.6, deaths: 20 },
] as const;
const run = promisify(execFile);

/**
 * What polling one appliance by default costs it, beside an older commit: both on simulated clocks,
 * with the costs of calls that were recorded.
 */
export async function loadResults(): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-before-'));
  try {
    checkOut(folder);
    const results: Result[] = [];
    for (const { farms, atMost, deaths } of sizes)
      for (const troubled of [0.05, 0]) {
        const input = { farms, troubled, deaths: troubled > 0 ? deaths : 0 };
        const [old, ours] = await Promise.all([
          measureIn(folder, { ...input, byWord: false }),
          measureIn(repository, { ...input, byWord: true }),
        ]);
        results.push(...compared(`${farms} farms, ${troubled * 100} % in trouble`, { old, ours, atMost }));
      }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compared(
  what: string,
  { old, ours, atMost }: { readonly old: MeasuredLoad; readonly ours: MeasuredLoad; readonly atMost: number },
): readonly Result[] {
  const row = (name: string, of: (load: MeasuredLoad) => number, goal = {}): Result =>
    compare({ name: `${what}: ${name}`, unit: 's', ours: of(ours), reference: of(old), ...goal });
  const deaths = [
    row('death of a backend to its sample, median', ({ deathToSample }) => deathToSample.median),
    row('death of a backend to its sample, 95th percentile', ({ deathToSample }) => deathToSample.p95),
  ];
  return [
    row('the appliance, per minute', ({ secondsPerMinute }) => secondsPerMinute, { atMost }),
    row('the appliance without sleep, per minute', ({ workSecondsPerMinute }) => workSecondsPerMinute),
    row('between two calls', ({ callsPerMinute }) => 60 / callsPerMinute),
    row('age of the states of backends, median', ({ ageOfStates }) => ageOfStates.median),
    row('age of the states of backends, longest', ({ ageOfStates }) => ageOfStates.longest),
    ...(Number.isFinite(ours.deathToSample.p95) ? deaths : []),
  ];
}

/** Writes what the older commit needs to be measured, and this measure, into a folder. */
function checkOut(folder: string): void {
  const archive = execFileSync('git', ['archive', before, 'src', 'simulator', 'test/support', 'package.json'], {
    cwd: repository,
    maxBuffer: 1e9,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'bench'));
  cpSync(join(repository, 'bench/load'), join(folder, 'bench/load'), { recursive: true });
  writeFileSync(join(folder, 'bench/load/check-answer.ts'), checkAnswerBefore);
}

async function measureIn(cwd: string, input: LoadInput): Promise<MeasuredLoad> {
  const { stdout } = await run(process.execPath, [script, JSON.stringify(input)], { cwd, timeout: 600_000 });
  return JSON.parse(stdout) as MeasuredLoad;
}
