import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { operationRoutes } from '../../src/admin/operation-routes.ts';
import { readBuildInfo } from '../../src/build-info.ts';
import { collectorDefaults } from '../../src/collectors/defaults.ts';
import { makeToken } from '../../src/commands/make-token.ts';
import { loadSettings } from '../../src/config/load.ts';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { startSimulatedAppliance } from '../../src/simulator/server.ts';
import type { World } from '../../src/simulator/world.ts';
import { until } from '../../test/support/until.ts';

/** /metrics of the whole exporter, its gateway included, once every collector has read one appliance in this state. */
export async function readExporterPage(world: World): Promise<string> {
  const apiKey = 'benchmark0123456789';
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const appliance = await startSimulatedAppliance({ world, apiKey });
  try {
    const daemon = await startExporter(folder, appliance.url, apiKey);
    try {
      // A refusal, so that the counter of refusals is there.
      await fetch(`${daemon.adminUrl}/appliances`);
      await until(
        () => fetch(`${daemon.url}/-/ready`).then(({ status }) => status),
        (status) => status === 200,
        60_000,
      );
      return await (await fetch(`${daemon.url}/metrics`)).text();
    } finally {
      await daemon.close();
    }
  } finally {
    await appliance.close();
    rmSync(folder, { recursive: true });
  }
}

async function startExporter(folder: string, url: string, apiKey: string): Promise<Daemon> {
  const file = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({
      appliances: [{ name: 'lb', url, api_key: apiKey, tls: { insecure_skip_verify: true } }],
      admin: {
        listen_address: '127.0.0.1:0',
        audit_file: 'audit.jsonl',
        tokens: [{ name: 'benchmark', sha256: makeToken().sha256, role: 'admin' }],
      },
    }),
  );
  return startDaemon({
    settings: await loadSettings({ file, env: {}, collectorDefaults, operations: operationRoutes() }),
    listenAddress: '127.0.0.1:0',
    build: readBuildInfo({}),
    log: pino({ level: 'silent' }),
    now: Date.now,
    random: Math.random,
  });
}
