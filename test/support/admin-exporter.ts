import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import { collectOutput } from './process.ts';
import { until } from './until.ts';

export interface AdminConfig {
  readonly appliance: Pick<SimulatedAppliance, 'url' | 'fingerprintSha256'>;
  /** The names of the appliance; with several names, it appears as several. */
  readonly names: readonly string[];
  readonly apiKey: string;
  readonly sha256: string;
  readonly journalFile: string;
  /** Schedules of the collectors that run. */
  readonly polls?: Readonly<Record<string, string>>;
  /** Tokens beside the one of alice. */
  readonly tokens?: readonly object[];
}

/** Writes a configuration with one appliance and the token of an admin; returns its path. */
export function writeAdminConfig(folder: string, config: AdminConfig): string {
  const { appliance, names, apiKey, sha256, journalFile, polls = {}, tokens = [] } = config;
  const file = join(folder, 'zlb.yml');
  const tls = { fingerprint_sha256: appliance.fingerprintSha256 };
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({
      appliances: names.map((name) => ({ name, url: appliance.url, api_key: apiKey, tls })),
      collectors: Object.fromEntries(
        [...collectorDefaults.keys()].map((name) => [
          name,
          name in polls ? { enabled: true, schedule: polls[name] } : { enabled: false },
        ]),
      ),
      polling: { max_busy_ratio: 1, jitter: '0%' },
      admin: {
        listen_address: '127.0.0.1:0',
        journal_file: journalFile,
        tokens: [{ name: 'alice', sha256, role: 'admin' }, ...tokens],
      },
    }),
  );
  return file;
}

/**
 * Starts the exporter as a process of its own, under another program where one is given. Resolves
 * once both of its listeners are there; the process ends with the test at the latest.
 */
export async function startAdminExporter(
  configFile: string,
  listenAddress = '127.0.0.1:0',
  under: readonly string[] = [],
) {
  const options = [`--config.file=${configFile}`, `--web.listen-address=${listenAddress}`];
  const [command = '', ...words] = [...under, process.execPath, 'src/main.ts', ...options];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdout, stderr } = collectOutput(child);
  const log = () => logLines(stderr());
  const urlOf = (message: string) => log().find(({ msg }) => msg === message)?.url;
  const [adminUrl, metricsUrl] = await until(
    () => [urlOf('admin gateway listening'), urlOf('listening')],
    (seen) => !seen.includes(undefined) || child.exitCode !== null,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${stderr().slice(-3000)}`);
  });
  if (typeof adminUrl !== 'string' || typeof metricsUrl !== 'string' || child.pid === undefined)
    throw new Error(`the exporter ended with ${child.exitCode}: ${stdout()}${stderr()}`);
  return {
    pid: child.pid,
    adminUrl,
    metricsUrl,
    /** The lines of its log. */
    log,
    /** Resolves once it has ended, to its exit code. */
    async stop(signal: NodeJS.Signals) {
      // Closed once the last process that writes to its pipes is gone.
      const closed = once(child, 'close') as Promise<[number | null]>;
      child.kill(signal);
      const [code] = await closed;
      return code;
    },
  };
}

/** Returns the log lines; the last one of a killed process may be incomplete. */
function logLines(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
