import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../src/lib/check.ts';
import { readLogEntry } from '../log-entry.ts';
import type { CanarySearch } from './canaries.ts';

/** The exporter, started as an operator starts it. */
export interface ExporterProcess {
  readonly pid: number;
  readonly metricsUrl: string;
  readonly adminUrl: string;
  /** What came out of it, line by line: how much, and what should not have come. */
  readonly output: OutputWatch;
  reload(): void;
  /** Resolves to its exit code. */
  stop(): Promise<number | null>;
  /** At once, if it is still there. */
  kill(): void;
}

export interface OutputWatch {
  readonly lines: number;
  /** Lines that are no entry of the log, such as warnings of Node.js, and entries that ask for a person. */
  readonly unexpected: readonly string[];
  readonly leaks: readonly string[];
}

/** Says where a warning comes from. */
const nodeFlags = ['--trace-warnings'];

const repository = fileURLToPath(new URL('../..', import.meta.url));

export async function startExporterProcess(args: readonly string[], search: CanarySearch): Promise<ExporterProcess> {
  const child = spawn(process.execPath, [...nodeFlags, 'src/main.ts', ...args], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const output = { lines: 0, unexpected: [] as string[], leaks: [] as string[] };
  const urls = Promise.withResolvers<{ readonly metricsUrl: string; readonly adminUrl: string }>();
  const listening = new Map<unknown, string>();

  function take(line: string, isLog: boolean): void {
    output.lines += 1;
    const leak = search.findIn(line);
    if (leak !== undefined) output.leaks.push(leak);
    const entry = isLog ? readLogEntry(line) : undefined;
    if (!entry || isAlarming(entry)) output.unexpected.push(line);
    if (typeof entry?.['url'] === 'string') listening.set(entry['msg'], entry['url']);
    const [metricsUrl, adminUrl] = [listening.get('listening'), listening.get('admin gateway listening')];
    if (metricsUrl !== undefined && adminUrl !== undefined) urls.resolve({ metricsUrl, adminUrl });
  }

  createInterface({ input: child.stdout }).on('line', (line) => take(line, false));
  createInterface({ input: child.stderr }).on('line', (line) => take(line, true));
  void ended.then(([code]) =>
    urls.reject(new Error(`the exporter ended with ${code}: ${output.unexpected.join('\n')}`)),
  );
  const { metricsUrl, adminUrl } = await urls.promise;
  const { pid } = child;
  if (pid === undefined) throw new Error('the exporter has no process');
  return {
    pid,
    metricsUrl,
    adminUrl,
    output,
    reload: () => void child.kill('SIGHUP'),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

/** Errors are for people, but for those that the soak makes itself: what it breaks cannot be relayed to or taken in. */
function isAlarming({ level, msg, err }: Record<string, unknown>): boolean {
  if (level !== 'error' && level !== 'fatal') return false;
  const fromAppliance =
    isRecord(err) && (err['type'] === 'ApplianceError' || String(err['code']).startsWith('upstream_'));
  return !(fromAppliance && msg === 'admin request failed') && !String(msg).startsWith('configuration refused');
}
