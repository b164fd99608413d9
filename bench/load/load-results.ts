import { execFile } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkOutOlder } from '../older.ts';
import { compare, type Result } from '../results.ts';
import { secondsOfPluginCall } from './appliance.ts';
import type { LoadInput, MeasuredLoad } from './measure-load.ts';

/** The `checkAnswer` of the older commit takes a decoder. */
const olderCheckAnswer = `
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
const faults = [
  { what: '60 farms, a hung proxy', farms: 60, fault: { hungProxies: 1 } },
  { what: '300 farms, three hung proxies', farms: 300, fault: { hungProxies: 3 } },
  { what: '60 farms, the daemon of the L4 farms dead', farms: 60, fault: { isDaemonDead: true } },
  { what: '60 farms, those of the deaths wait for a restart', farms: 60, fault: { needRestart: true } },
] as const;
/** No later than the older commit: a look at the page is half a second after the one before. */
const noLater = 1.02;
const run = promisify(execFile);

/**
 * What polling one appliance by default costs it, beside an older commit: both on simulated clocks,
 * with the costs of calls that were recorded.
 */
export async function loadResults(): Promise<Result[]> {
  const folder = checkOutOlder('src', 'simulator', 'test/support', 'package.json');
  try {
    cpSync(join(repository, 'bench/load'), join(folder, 'bench/load'), { recursive: true });
    writeFileSync(join(folder, 'bench/load/check-answer.ts'), olderCheckAnswer);
    const both = (input: Omit<LoadInput, 'byWord'>) =>
      Promise.all([measureIn(folder, { ...input, byWord: false }), measureIn(repository, { ...input, byWord: true })]);
    const results: Result[] = [];
    for (const { farms, atMost, deaths } of sizes)
      for (const troubled of [0.05, 0]) {
        const [old, ours] = await both({ farms, troubled, deaths: troubled > 0 ? deaths : 0, fault: {} });
        const what = `${farms} farms, ${troubled > 0 ? `${troubled * 100} % in trouble` : 'all well'}`;
        results.push(...compared(what, { old, ours, atMost }), ...besidePlugin(what, farms, ours));
      }
    for (const { what, farms, fault } of faults) {
      const [old, ours] = await both({ farms, troubled: 0.05, deaths: 8, fault });
      results.push(...withFault(what, { old, ours }));
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Beside what people would use instead: the vendor's plug-in, which makes a call for each farm and
 * check. Each of two monitoring servers checks; a scrape by two Prometheis makes no call.
 */
function besidePlugin(what: string, farms: number, { callsPerMinute, secondsPerMinute }: MeasuredLoad): Result[] {
  return [1, 2].flatMap((servers) => {
    const name = `${what}, ${servers} monitoring ${servers === 1 ? 'server' : 'servers'}`;
    const about = "the vendor's plug-in, each farm each minute";
    const calls = servers * farms;
    return [
      compare({ name: `${name}: calls a minute (${about})`, unit: 'calls', ours: callsPerMinute, reference: calls }),
      compare({
        name: `${name}: the appliance, per minute (${about})`,
        unit: 's',
        ours: secondsPerMinute,
        reference: calls * secondsOfPluginCall,
      }),
    ];
  });
}

interface Loads {
  readonly old: MeasuredLoad;
  readonly ours: MeasuredLoad;
}

function withFault(what: string, { old, ours }: Loads): readonly Result[] {
  const row = (name: string, of: (load: MeasuredLoad) => number, goal = {}): Result =>
    compare({ name: `${what}: ${name}`, unit: 's', ours: of(ours), reference: of(old), ...goal });
  return [
    row('death of a backend to its sample, median', ({ deathToSample }) => deathToSample.median, { atMost: noLater }),
    row('death of a backend to its sample, longest', ({ deathToSample }) => deathToSample.longest, { atMost: noLater }),
    row('the appliance, per minute', ({ workSecondsPerMinute }) => workSecondsPerMinute),
  ];
}

function compared(what: string, { old, ours, atMost }: Loads & { readonly atMost: number }): readonly Result[] {
  const row = (name: string, of: (load: MeasuredLoad) => number, goal = {}): Result =>
    compare({ name: `${what}: ${name}`, unit: 's', ours: of(ours), reference: of(old), ...goal });
  const deaths = (): readonly Result[] => [
    row('death of a backend to its sample, median', ({ deathToSample }) => deathToSample.median),
    row('death of a backend to its sample, 95th percentile', ({ deathToSample }) => deathToSample.p95),
  ];
  return [
    row('the appliance, per minute', ({ secondsPerMinute }) => secondsPerMinute, { atMost }),
    row('the appliance without sleep, per minute', ({ workSecondsPerMinute }) => workSecondsPerMinute),
    row('between two calls', ({ callsPerMinute }) => 60 / callsPerMinute),
    row('age of the states of backends, median', ({ ageOfStates }) => ageOfStates.median),
    row('age of the states of backends, longest', ({ ageOfStates }) => ageOfStates.longest),
    ...(Number.isFinite(ours.deathToSample.p95) ? deaths() : []),
  ];
}

async function measureIn(cwd: string, input: LoadInput): Promise<MeasuredLoad> {
  const { stdout } = await run(process.execPath, [script, JSON.stringify(input)], { cwd, timeout: 600_000 });
  return JSON.parse(stdout) as MeasuredLoad;
}
