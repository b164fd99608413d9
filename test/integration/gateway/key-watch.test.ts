import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { createAdminMetrics } from '../../../src/admin/calls/admin-metrics.ts';
import { tryKeys } from '../../../src/admin/calls/key-watch.ts';
import { createApplianceClient } from '../../../src/appliance/client.ts';
import { HostResolver } from '../../../src/lib/host-resolver.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import type { World } from '../../../simulator/world.ts';

const { signal } = new AbortController();

it('the gateway reports each key as accepted, also by a deactivated appliance, refused, or unknown', async () => {
  const [good, wrong, deactivated, away] = await Promise.all([
    givenKeyed('good', busyWorld(), 'root-key'),
    givenKeyed('wrong', busyWorld(), 'old-key'),
    givenKeyed('deactivated', deactivatedWorld(), 'root-key'),
    givenKeyed('away', busyWorld(), 'root-key'),
  ]);
  await away.appliance.close();
  const registry = new Registry();
  const metrics = createAdminMetrics(registry);
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(line) });

  await tryKeys({ appliances: () => [good, wrong, deactivated, away], metrics, log }, signal);

  const known = (await registry.metrics()).match(/^zlb_admin_key_accepted\{.*$/gm);
  expect(known).toEqual([
    'zlb_admin_key_accepted{appliance="good"} 1',
    'zlb_admin_key_accepted{appliance="wrong"} 0',
    'zlb_admin_key_accepted{appliance="deactivated"} 1',
  ]);
  expect(logged.filter((line) => line.includes('refuses'))).toHaveLength(1);
});

async function givenKeyed(name: string, world: World, key: string) {
  const appliance = await startSimulatedAppliance({ world, apiKey: 'root-key' });
  const client = createApplianceClient({
    url: new URL(appliance.url),
    tls: { fingerprintSha256: appliance.fingerprintSha256, insecureSkipVerify: false },
    apiKey: new Secret(key),
    keyHeader: 'auto',
    resolver: new HostResolver(),
    timeoutMs: 5_000,
    maxConnections: 1,
    bodyBytes: 1_000_000,
    now: Date.now,
    onCall: () => undefined,
  });
  onTestFinished(async () => {
    await client.close();
    await appliance.close();
  });
  return { name, client, appliance };
}
