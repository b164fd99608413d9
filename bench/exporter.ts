import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from '../test/support/until.ts';
import { plainEnvironment, type Program } from './installed.ts';

/** The exporter in a process of its own. */
export interface ExporterProcess {
  readonly pid: number;
  readonly metricsUrl: string;
  reload(): void;
  /** Resolves to its exit code. */
  stop(): Promise<number | null>;
  /** At once, if it is still there. */
  kill(): void;
}

/** An entry of its log; undefined for other lines, such as warnings of Node.js. */
export type LogEntry = Readonly<Record<string, unknown>> | undefined;

/** From a clone, `npm start` does the same. */
export const clone: Program = [process.execPath, fileURLToPath(new URL('../src/main.ts', import.meta.url))];

export interface ExporterStart {
  readonly program: Program;
  readonly args: readonly string[];
  /** Called with each line that it writes. */
  readonly onLine: (line: string, entry: LogEntry) => void;
}

export async function startExporterProcess(start: ExporterStart): Promise<ExporterProcess> {
  const [command, ...first] = start.program;
  const child = spawn(command, [...first, ...start.args], {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => void child.kill('SIGKILL'));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const listening = Promise.withResolvers<string>();
  let beginning = '';

  createInterface({ input: child.stdout }).on('line', (line) => start.onLine(line, undefined));
  createInterface({ input: child.stderr }).on('line', (line) => {
    const entry = readLogEntry(line);
    start.onLine(line, entry);
    if (beginning.length < 10_000) beginning += `${line}\n`;
    if (entry?.['msg'] === 'listening') listening.resolve(String(entry['url']));
  });
  void ended.then(([code]) => listening.reject(new Error(`the exporter ended with ${code}:\n${beginning}`)));
  const metricsUrl = await listening.promise;
  const { pid } = child;
  if (pid === undefined) throw new Error('the exporter has no process');
  return {
    pid,
    metricsUrl,
    reload: () => void child.kill('SIGHUP'),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

function readLogEntry(line: string): LogEntry {
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}

/** A running exporter that has read all of its appliances. */
export interface Exporter {
  readonly pid: number;
  readonly url: string;
  /** Resolves once it has ended. */
  stop(): Promise<void>;
}

/** All appliances have been read by then. */
const maxWarmUpMs = 240_000;

/**
 * Starts the exporter on a configuration; resolves once every collector of every appliance had its
 * first run.
 */
export async function startExporter(program: Program, configuration: object): Promise<Exporter> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const file = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  const { pid, metricsUrl, stop, kill } = await startExporterProcess({
    program,
    args: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
    onLine: () => undefined,
  });
  await until(
    async () => (await fetch(`${metricsUrl}/-/ready`)).status,
    (status) => status === 200,
    maxWarmUpMs,
  ).catch((error: unknown) => {
    kill();
    rmSync(folder, { recursive: true });
    throw error;
  });
  return {
    pid,
    url: metricsUrl,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}
