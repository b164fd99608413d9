import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectorDefaults } from '../src/collectors/defaults.ts';
import { makeToken } from '../src/commands/make-token.ts';
import { startChild } from './child.ts';
import { startExporter } from './exporter.ts';
import { createLoadGenerator, type LoadGenerator } from './load.ts';

/** A simulated appliance and an exporter that polls nothing, each in its own process, called from this one. */
export interface GatewayServers {
  readonly gateway: LoadGenerator;
  /** The appliance itself. */
  readonly direct: LoadGenerator;
  /** The least that a relay can be, to tell what the gateway costs from what any relay does. */
  readonly bare: LoadGenerator;
  close(): Promise<void>;
}

/** `readsAtATime` is what the gateway lets through to one appliance. */
export async function startGatewayServers(readsAtATime: number): Promise<GatewayServers> {
  const apiKey = 'benchmark0123456789';
  const appliance = await startChild(new URL('appliance-server.ts', import.meta.url), { apiKey });
  const { token, sha256 } = makeToken();
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const file = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({
      appliances: [{ name: 'lb', url: appliance.url, api_key: apiKey, tls: { insecure_skip_verify: true } }],
      collectors: Object.fromEntries([...collectorDefaults.keys()].map((name) => [name, { enabled: false }])),
      admin: {
        listen_address: '127.0.0.1:0',
        audit_file: 'audit.jsonl',
        max_concurrent_per_appliance: readsAtATime,
        tokens: [{ name: 'benchmark', sha256, role: 'admin' }],
      },
    }),
  );
  const exporter = await startExporter(file, 'admin gateway listening');

  const relay = await startChild(new URL('bare-relay-server.ts', import.meta.url), { url: appliance.url, apiKey });

  const bare = createLoadGenerator({ origin: relay.url, prefix: '/api/v4.0/api.cgi', headers: {} });
  const direct = createLoadGenerator({
    origin: appliance.url,
    prefix: '/api/v4.0/api.cgi',
    headers: { API_KEY: apiKey },
  });
  const gateway = createLoadGenerator({
    origin: exporter.url,
    prefix: '/appliances/lb',
    headers: { authorization: `Bearer ${token}` },
  });
  return {
    gateway,
    direct,
    bare,
    async close() {
      await Promise.all([direct.close(), gateway.close(), bare.close()]);
      relay.stop();
      appliance.stop();
      exporter.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
