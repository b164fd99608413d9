import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { readBuildInfo } from '../../src/app/build-info.ts';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { makeToken } from '../../src/commands/token.ts';
import { loadSettings } from '../../src/app/load-settings.ts';
import { until } from '../../test/support/until.ts';

/**
 * /metrics of the whole exporter, its gateway included, once every collector has read one appliance
 * in this state.
 */
export async function readExporterPage(world: World): Promise<string> {
  const apiKey = 'benchmark0123456789';
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const appliance = await startSimulatedAppliance({ world, apiKey, farmsListen: true });
  try {
    const daemon = await startExporter(folder, appliance, apiKey);
    try {
      // A refusal, so that the counter of refusals is there.
      await fetch(`${daemon.adminUrl}/appliances`);
      // The collector vip runs each minute; its first run does not know the certificates yet.
      return await until(
        () => readWhenReady(daemon.url),
        (page) => page.includes('zlb_farm_served_certificate_in_store{'),
        150_000,
      );
    } finally {
      await daemon.close();
    }
  } finally {
    await appliance.close();
    rmSync(folder, { recursive: true });
  }
}

async function readWhenReady(url: string): Promise<string> {
  const { status } = await fetch(`${url}/-/ready`);
  return status === 200 ? await (await fetch(`${url}/metrics`)).text() : '';
}

async function startExporter(
  folder: string,
  { url, farms }: Pick<SimulatedAppliance, 'url' | 'farms'>,
  apiKey: string,
): Promise<Daemon> {
  const file = join(folder, 'zlb.yml');
  const vip = { connect_to: farms?.addresses ?? {}, networks: ['192.0.2.0/24', '127.0.0.1'] };
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({
      appliances: [{ name: 'lb', url, api_key: apiKey, tls: { insecure_skip_verify: true }, vip }],
      collectors: { vip: { enabled: true } },
      admin: {
        listen_address: '127.0.0.1:0',
        audit_file: 'audit.jsonl',
        tokens: [{ name: 'benchmark', sha256: makeToken().sha256, role: 'admin' }],
      },
    }),
  );
  return startDaemon({
    settings: await loadSettings({ file, env: {} }),
    listenAddress: '127.0.0.1:0',
    build: readBuildInfo({}),
    log: pino({ level: 'silent' }),
    now: Date.now,
    random: Math.random,
  });
}
