import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { until } from './until.ts';

export type StartedProcess = ReturnType<typeof spawnExporter>;

/** Starts the exporter as a process of its own; it ends with the test, and removes what it made. */
export function startExporter(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const exporter = spawnExporter(args, env);
  onTestFinished(() => exporter.end());
  return exporter;
}

/** Starts one demonstration for all tests of a file. */
export function givenDemonstration() {
  let url = '';
  let exporter: StartedProcess | undefined;
  beforeAll(async () => {
    exporter = spawnExporter(['--web.listen-address=127.0.0.1:0'], {});
    url = await exporter.url();
  });
  afterAll(() => exporter?.end());
  return { url: () => url, said: () => exporter?.stdout() ?? '' };
}

function spawnExporter(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { child, ...output } = spawnProgram(args, env);

  /** Resolves when it has ended, to the exit code and the milliseconds that it took. */
  async function ended() {
    const startedAt = performance.now();
    // Then all that it wrote is read.
    const [code] = child.exitCode === null ? ((await once(child, 'close')) as [number | null]) : [child.exitCode];
    return { code, ms: performance.now() - startedAt };
  }

  return {
    ...output,
    /** Base URL of the metrics listener, once it is printed or logged. */
    async url() {
      const text = await until(
        () => output.stdout() + output.stderr(),
        (seen) => /http:\/\/[^\s/"]+:\d+/.test(seen) || child.exitCode !== null,
      );
      const url = /http:\/\/[^\s/"]+:\d+/.exec(text)?.[0];
      if (!url) throw new Error(`the exporter ended with ${child.exitCode}: ${text}`);
      return url;
    },
    /** Sends a signal that does not end it. */
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends a signal; resolves to the exit code and the milliseconds it took. */
    stop(signal: NodeJS.Signals) {
      child.kill(signal);
      return ended();
    },
    ended,
    /** Ends it, if it has not ended; resolves when it has. One that hangs is killed. */
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

function spawnProgram(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ...collectOutput(child) };
}

/** Runs the exporter to its end. */
export async function runExporter(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { child, ...output } = spawnProgram(args, env);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: output.stdout(), stderr: output.stderr() };
}

/** Everything a process printed so far. */
export function collectOutput(child: ChildProcess): { readonly stdout: () => string; readonly stderr: () => string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return { stdout: () => stdout, stderr: () => stderr };
}
