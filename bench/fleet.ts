import type { FleetOrder, FleetSize, StartedFleet } from './appliances-server.ts';
import { startChild } from './child.ts';

/** Simulated appliances in a process of their own. */
export interface Fleet {
  /** The entries of `appliances` in a configuration. */
  readonly entries: readonly { readonly name: string; readonly [key: string]: unknown }[];
  stop(): void;
}

const apiKey = 'benchmark0123456789';

export async function startFleet(size: FleetSize, latency: FleetOrder['latency']): Promise<Fleet> {
  const order: FleetOrder = { size, apiKey, latency };
  const child = await startChild(new URL('appliances-server.ts', import.meta.url), order);
  const { urls, fingerprintSha256 } = child.report as StartedFleet;
  return {
    entries: urls.map((url, index) => ({
      name: `lb-${String(index + 1).padStart(4, '0')}`,
      url,
      api_key: apiKey,
      tls: { fingerprint_sha256: fingerprintSha256 },
    })),
    stop: () => child.stop(),
  };
}

/** Returns `100 appliances × 50 farms × 4 backends`. */
export function sizeText({ appliances, farms, backendsPerFarm }: FleetSize): string {
  return `${appliances.toLocaleString('en')} appliances × ${farms} farms × ${backendsPerFarm} backends`;
}
