import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetOrder, StartedFleet } from '../../bench/appliances-server.ts';
import { startChild } from '../../bench/child.ts';

const apiKey = 'picture0123456789';
const sites = ['amsterdam', 'berlin', 'lisbon', 'madrid', 'oslo', 'paris', 'vienna'];

export interface Fleet {
  /** A configuration that watches the fleet. */
  readonly file: string;
  stop(): void;
}

/** Starts simulated appliances at up to seven sites, of which a few refuse the key. */
export async function startFleet(count: number): Promise<Fleet> {
  const order: FleetOrder = { size: { appliances: count, farms: 3, backendsPerFarm: 2 }, apiKey, latency: 'none' };
  const child = await startChild(new URL('../../bench/appliances-server.ts', import.meta.url), order);
  const { urls, fingerprintSha256 } = child.report as StartedFleet;
  const appliances = urls.map((url, index) => {
    const site = sites[index % sites.length] ?? '';
    const number = Math.floor(index / sites.length);
    return {
      name: `lb-${site}-${number + 1}`,
      url,
      api_key: index % 45 === 1 ? 'replaced' : apiKey,
      tls: { fingerprint_sha256: fingerprintSha256 },
      labels: { site, pair: `${site}-${Math.floor(number / 2) + 1}` },
    };
  });
  const folder = mkdtempSync(join(tmpdir(), 'zlb-pictures-'));
  const file = join(folder, 'zlb.yml');
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify({ appliances }), { mode: 0o600 });
  return {
    file,
    stop: () => {
      child.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
