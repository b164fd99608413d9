import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, onTestFinished } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const hasNpm = isThere('npm');
const hasPython = isThere('python3');

/**
 * Runs its arguments in a session with a terminal of its own; closes that terminal when its input
 * ends.
 */
const inTerminal = `
import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
sys.stdin.read()
os.close(master)
`;

/**
 * Starts an exporter of one appliance that nobody can reach; `command` runs it with the flags that
 * follow.
 */
async function startExporter(command: readonly string[]) {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  const configure = (name: string): void =>
    writeFileSync(file, `appliances: [{ name: ${name}, url: 'https://127.0.0.1:1', api_key: canarykey }]\n`);
  configure('lb-one');
  const address = `127.0.0.1:${await freePort()}`;
  const [program = '', ...args] = command;
  const flags = [`--config.file=${file}`, `--web.listen-address=${address}`];
  const child = spawn(program, [...args, ...flags], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const body = async (path: string): Promise<string> => {
    try {
      return await (await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(10_000) })).text();
    } catch {
      return '';
    }
  };
  await until(() => body('/-/healthy'), Boolean, 25_000);
  const [node = 0] = processesWith(`--web.listen-address=${address}`);
  onTestFinished(() => {
    for (const pid of processesWith(`--web.listen-address=${address}`)) process.kill(pid, 'SIGKILL');
  });
  return {
    /** The process that was started, the leader of its group. */
    pid: child.pid ?? 0,
    /** The process of the exporter itself. */
    node,
    configure,
    closeTerminal: () => child.stdin.end(),
    /** Resolves once a reload has brought the appliance of this name. */
    watches: (name: string) =>
      until(
        () => body('/sd'),
        (seen) => seen.includes(`"${name}"`),
      ),
    /** Resolves once nothing answers. */
    ended: () =>
      until(
        () => body('/-/healthy'),
        (seen) => seen === '',
      ),
    goneFromMachine: () =>
      until(
        () => processesWith(`--web.listen-address=${address}`).length,
        (count) => count === 0,
      ),
  };
}

/** The processes of Node.js with this argument. */
function processesWith(argument: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => (argumentsOf(pid)[0] ?? '').endsWith('node') && argumentsOf(pid).includes(argument))
    .map(Number);
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const direct = [process.execPath, 'src/main.ts'];
const underNpm = ['npm', 'start', '--silent', '--'];
const ways = [
  { way: 'node', command: direct, isPossible: true },
  { way: 'npm start', command: underNpm, isPossible: hasNpm },
];

describe.each(ways)('SIGHUP of an exporter that $way started', ({ command, isPossible }) => {
  it.runIf(isPossible)('reloads where there is no terminal', async () => {
    const exporter = await startExporter(command);

    exporter.configure('lb-two');
    process.kill(exporter.node, 'SIGHUP');

    await exporter.watches('lb-two');
  });

  it.runIf(isPossible && hasPython)('reloads while its terminal is open, and ends it when that is closed', async () => {
    const exporter = await startExporter(['python3', '-c', inTerminal, ...command]);

    exporter.configure('lb-two');
    process.kill(exporter.node, 'SIGHUP');
    await exporter.watches('lb-two');
    exporter.closeTerminal();

    await exporter.ended();
    await exporter.goneFromMachine();
  });
});

describe.runIf(hasNpm)('the npm that started an exporter', () => {
  it.each(['SIGHUP', 'SIGKILL'] as const)('takes the exporter with it when %s ends it', async (signal) => {
    const exporter = await startExporter(underNpm);

    process.kill(exporter.pid, signal);

    await exporter.ended();
    await exporter.goneFromMachine();
  });

  it('leaves it running when a hang-up without a terminal reaches both, as behind nohup', async () => {
    const exporter = await startExporter(underNpm);

    exporter.configure('lb-two');
    const since = performance.now();
    process.kill(-exporter.pid, 'SIGHUP');
    await until(() => argumentsOf(String(exporter.pid)).length <= 1, Boolean);

    await exporter.watches('lb-two');
    // Longer than it takes to notice that npm has ended.
    await until(
      () => performance.now() - since,
      (ms) => ms > 1_500,
    );
    await exporter.watches('lb-two');
  });
});
