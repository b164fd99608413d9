import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { loadSettings } from '../../../src/app/load-settings.ts';
import { loadWebSettings } from '../../../src/config/web-settings.ts';
import { ConfigurationSource } from '../../../src/app/configuration-source.ts';
import { type Daemon, startDaemon } from '../../../src/app/daemon.ts';
import { largeWorld } from '../../../simulator/scenes/sizes.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../../simulator/server.ts';
import { noThreads } from '../../support/no-threads.ts';
import { valueOf } from '../../support/samples.ts';
import { until } from '../../support/until.ts';

export const apiKey = 'reload-key-0123456789';

/** One entry of `appliances`. */
export interface Entry extends Readonly<Record<string, unknown>> {
  readonly name: string;
}

export interface Reloadable {
  readonly daemon: Daemon;
  /** An entry that points to this simulated appliance. */
  entry(name: string, more?: Readonly<Record<string, unknown>>): Entry;
  appliance(name: string): SimulatedAppliance;
  /** Writes a file of the configuration's folder; what is not a text as JSON, which is YAML. */
  write(name: string, content: unknown): Promise<void>;
  path(name: string): string;
  page(path?: string): Promise<string>;
  post(path: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; text: string }>;
  /** Resolves to the page once every collector of these appliances has run well. */
  allRead(...names: readonly string[]): Promise<string>;
  readonly logged: readonly string[];
}

/**
 * A daemon on a configuration file that a test can change, with simulated appliances of two farms
 * each.
 */
export async function givenReloadable(
  applianceNames: readonly string[],
  configuration: (reloadable: Pick<Reloadable, 'entry' | 'path' | 'appliance'>) => unknown,
  files: Readonly<Record<string, unknown>> = {},
  threads: typeof noThreads = noThreads,
): Promise<Reloadable> {
  const folder = await mkdtemp(join(tmpdir(), 'zlb-reload-'));
  // Others may enter it, as they may enter /etc.
  await chmod(folder, 0o755);
  const appliances = new Map<string, SimulatedAppliance>();
  for (const name of applianceNames)
    appliances.set(
      name,
      await startSimulatedAppliance({ world: largeWorld({ farms: 2, backendsPerFarm: 2 }), apiKey }),
    );
  const appliance = (name: string): SimulatedAppliance => {
    const found = appliances.get(name);
    if (!found) throw new Error(`no simulated appliance ${name}`);
    return found;
  };
  const entry = (name: string, more: Readonly<Record<string, unknown>> = {}): Entry => {
    const { url, fingerprintSha256 } = appliance(name);
    return { name, url, api_key: apiKey, tls: { fingerprint_sha256: fingerprintSha256 }, ...more };
  };
  const path = (name: string): string => join(folder, name);
  const write = (name: string, content: unknown): Promise<void> =>
    writeFile(path(name), typeof content === 'string' ? content : JSON.stringify(content));
  for (const [name, content] of Object.entries(files)) await write(name, content);
  await write('zlb.yml', configuration({ entry, path, appliance }));

  const logged: string[] = [];
  const file = path('zlb.yml');
  const webFile = 'web.yml' in files ? path('web.yml') : undefined;
  const source = new ConfigurationSource([file, ...(webFile === undefined ? [] : [webFile])], async (seen) => ({
    settings: await loadSettings({ file, env: {}, files: seen }),
    web: webFile === undefined ? undefined : await loadWebSettings({ file: webFile, env: {}, files: seen }),
  }));
  const daemon = await startDaemon({
    ...(await source.load()),
    source,
    enableLifecycle: true,
    listenAddress: '127.0.0.1:0',
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    log: pino({ level: 'debug', base: null }, { write: (line: string) => void logged.push(line) }),
    now: Date.now,
    random: () => 0.5,
    ...threads,
  });
  onTestFinished(async () => {
    await daemon.close();
    await Promise.all([...appliances.values()].map((each) => each.close()));
    await rm(folder, { recursive: true, force: true });
  });

  const page = async (path = '/metrics'): Promise<string> => (await fetch(daemon.url + path)).text();
  return {
    daemon,
    entry,
    appliance,
    write,
    path,
    page,
    logged,
    async post(path, headers = {}) {
      const answer = await fetch(daemon.url + path, { method: 'POST', headers });
      return { status: answer.status, text: await answer.text() };
    },
    allRead: (...names) =>
      until(page, (seen) =>
        names.every((name) =>
          ['farms', 'backends', 'certificates', 'farm_config'].every(
            (collector) => valueOf(seen, 'zlb_collector_success', { appliance: name, collector }) === 1,
          ),
        ),
      ),
  };
}
