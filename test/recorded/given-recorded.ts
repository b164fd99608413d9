import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import { loadSettings } from '../../src/app/load-settings.ts';
import type { Settings } from '../../src/config/settings.ts';
import { ConfigurationSource } from '../../src/app/configuration-source.ts';
import { startDaemon } from '../../src/app/daemon.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { givenFolder } from '../support/folder.ts';
import { startReplayServer } from '../support/replay-server.ts';
import { noThreads } from '../support/no-threads.ts';
import { untilAllRead } from '../support/all-read.ts';

/**
 * Once a year: after its first run a collector rests, so that a page depends on the recordings and
 * the clock alone.
 */
const yearly = '0 0 0 1 1 *';

/** Returns an entry of `appliances` for the recorded appliance. */
type Entry = (name: string, more?: object) => object;

/** Returns the content of a configuration file. */
export type Configure = (entry: Entry) => object;

/**
 * Starts the whole exporter on the recorded appliance, replayed over TLS, with a clock that the
 * test moves.
 */
export async function givenRecordedExporter(configure: Configure, alter?: Parameters<typeof startReplayServer>[0]) {
  const server = await startReplayServer(alter);
  const file = join(givenFolder(), 'zlb.yml');
  const write = (configuration: object) =>
    writeFile(file, JSON.stringify({ polling: { max_busy_ratio: 1, jitter: '0%' }, ...configuration }));
  const entry: Entry = (name, more = {}) => ({
    name,
    url: server.url,
    api_key: server.apiKey,
    tls: { fingerprint_sha256: server.fingerprintSha256 },
    ...more,
  });
  await write(configure(entry));

  // node-cron reads the clock of the process.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T21:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const startedAt = performance.now();
  let passedMs = 0;
  const now = (): number => Date.parse('2026-11-20T21:00:00Z') + passedMs + performance.now() - startedAt;
  const source = new ConfigurationSource([file], async (files) => ({
    settings: rarely(await loadSettings({ file, env: {}, files })),
  }));
  const daemon = await startDaemon({
    ...(await source.load()),
    source,
    listenAddress: '127.0.0.1:0',
    build: { version: '0.0.0', revision: 'test', nodeVersion: 'v24' },
    log: pino({ level: 'silent' }),
    now,
    random: () => 0.5,
    ...noThreads,
  });
  onTestFinished(() => daemon.close());
  await untilAllRead(daemon.url);

  return {
    daemon,
    entry,
    /** Body of `GET path`; fails on another status than 200. */
    async get(path: string, headers: Readonly<Record<string, string>> = {}) {
      const answer = await fetch(daemon.url + path, { headers });
      const body = await answer.text();
      if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${body}`);
      return body;
    },
    /** Moves the exporter's clock forward. */
    pass(ms: number) {
      passedMs += ms;
    },
    /** Replaces the configuration file and reloads it. */
    async reload(configuration: object) {
      await write(configuration);
      const outcome = await daemon.reload();
      if ('error' in outcome) throw new Error(`the reload was refused: ${outcome.error}`);
    },
  };
}

/**
 * The settings with every collector on {@link yearly}, which a configuration file may not ask for,
 * and without the one that would connect to the farms of the recording.
 */
function rarely(settings: Settings): Settings {
  return {
    ...settings,
    appliances: settings.appliances.map((appliance) => ({
      ...appliance,
      collectors: Object.fromEntries(
        Object.entries(appliance.collectors).map(([name, each]) => [
          name,
          { ...each, enabled: each.enabled && name !== 'vip', schedule: yearly },
        ]),
      ),
    })),
  };
}
