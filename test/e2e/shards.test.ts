import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { shardOf } from '../../src/lib/shard.ts';
import { makeToken } from '../../src/commands/token.ts';
import { emptyCommunityWorld } from '../../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { writeAdminConfig } from '../support/admin-exporter.ts';
import { freePort } from '../../bench/free-port.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !isThere('prometheus');
const names = Array.from({ length: 15 }, (_, index) => `lb-${String(index + 1).padStart(2, '0')}`);

/** Appliances, and the configuration that all shards share. */
async function givenFleet(): Promise<string> {
  const folder = givenFolder();
  const appliances = await Promise.all(
    names.map(async (name) => {
      const appliance = await startSimulatedAppliance({ world: emptyCommunityWorld(), apiKey: 'f1x7ure' });
      onTestFinished(() => appliance.close());
      return {
        name,
        url: appliance.url,
        api_key: 'f1x7ure',
        tls: { fingerprint_sha256: appliance.fingerprintSha256 },
      };
    }),
  );
  const file = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ appliances }));
  return file;
}

async function startShards(file: string, addresses: readonly string[]) {
  const shards = addresses.map((address, index) =>
    startExporter([`--config.file=${file}`, `--shard=${index}/${addresses.length}`, `--web.listen-address=${address}`]),
  );
  await Promise.all(shards.map((shard) => shard.url()));
  return shards;
}

/**
 * The shard from which each appliance is scraped, by the addresses that Prometheus found; the names
 * in order.
 */
async function scrapedFrom(prometheusUrl: string, addresses: readonly string[]) {
  const answer = (await (await fetch(`${prometheusUrl}/api/v1/targets?state=active`)).json()) as {
    readonly data: { readonly activeTargets: readonly { readonly scrapeUrl: string; readonly health: string }[] };
  };
  return answer.data.activeTargets
    .filter(({ health }) => health === 'up')
    .map(({ scrapeUrl }) => {
      const { host, searchParams } = new URL(scrapeUrl);
      return [searchParams.get('target') ?? '', addresses.indexOf(host)] as const;
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

const byHash = (count: number) => names.map((name) => [name, shardOf(name, count)] as const);

describe.skipIf(missing)('shards under real Prometheus', () => {
  it('scrape every appliance exactly once between them, and with one shard more move its share to it and nothing else', async () => {
    const file = await givenFleet();
    const addresses = await Promise.all(Array.from({ length: 4 }, async () => `127.0.0.1:${await freePort()}`));
    const prometheus = await givenPrometheus(`
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: zlb
    http_sd_configs: [${addresses.map((address) => `{ url: 'http://${address}/sd', refresh_interval: 1s }`).join(', ')}]
`);
    const once = async () => await prometheus.query('count by (appliance) (zlb_up == 1) == 1');
    const scraped = async () => JSON.stringify(await scrapedFrom(prometheus.url, addresses));

    const three = await startShards(file, addresses.slice(0, 3));
    await until(scraped, (seen) => seen === JSON.stringify(byHash(3)), 40_000);
    await until(once, (seen) => seen.length === names.length, 40_000);
    expect(await prometheus.query('count by (instance) (up) != 1')).toEqual([]);
    expect(await prometheus.query('count(up)')).toMatchObject([{ value: names.length }]);
    const stranger = await fetch(`http://${addresses[0]}/probe?target=lb-10`);
    expect(stranger.status).toBe(404);
    expect(await stranger.text()).toContain('belongs to shard 2;');

    for (const shard of three) expect(await shard.stop('SIGTERM')).toMatchObject({ code: 0 });
    await startShards(file, addresses);
    await until(scraped, (seen) => seen === JSON.stringify(byHash(4)), 40_000);
    await until(once, (seen) => seen.length === names.length, 40_000);

    const before = new Map(byHash(3));
    const moved = byHash(4).filter(([name, shard]) => before.get(name) !== shard);
    expect(moved).toEqual([
      ['lb-04', 3],
      ['lb-06', 3],
      ['lb-11', 3],
      ['lb-13', 3],
      ['lb-14', 3],
    ]);
    expect(await prometheus.query('count by (instance) (up) != 1')).toEqual([]);
    expect(await prometheus.query('count(up)')).toMatchObject([{ value: names.length }]);
  }, 180_000);
});

describe('a shard without an appliance', () => {
  it('runs, is ready, and says so', async () => {
    const appliance = await startSimulatedAppliance({ world: emptyCommunityWorld(), apiKey: 'f1x7ure' });
    onTestFinished(() => appliance.close());
    const env = {
      ZLB_APPLIANCE_URL: appliance.url,
      ZLB_API_KEY: 'f1x7ure',
      ZLB_TLS_FINGERPRINT_SHA256: appliance.fingerprintSha256,
    };

    // Its name is the address.
    const empty = 1 - shardOf('127.0.0.1', 2);
    const exporter = startExporter([`--shard=${empty}/2`, '--web.listen-address=127.0.0.1:0'], env);
    const url = await exporter.url();

    expect((await fetch(`${url}/-/ready`)).status).toBe(200);
    expect(await (await fetch(`${url}/sd`)).json()).toEqual([]);
    expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('appliance=');
    expect(exporter.stderr() + exporter.stdout()).toContain('no appliance falls to this shard');
    expect(appliance.requests).toEqual([]);
  });
});

describe('the gateway of a shard', () => {
  it("knows the shard's appliances alone, whatever the token may", async () => {
    const folder = givenFolder();
    const appliance = await startSimulatedAppliance({ world: emptyCommunityWorld(), apiKey: 'f1x7ure' });
    onTestFinished(() => appliance.close());
    const { token, sha256 } = makeToken();
    const auditFile = join(folder, 'audit.jsonl');
    const file = writeAdminConfig(folder, { appliance, names, apiKey: 'f1x7ure', sha256, auditFile });

    const exporter = startExporter([`--config.file=${file}`, '--shard=2/3', '--web.listen-address=127.0.0.1:0']);
    const log = await until(exporter.stderr, (seen) => seen.includes('admin gateway listening'));
    const adminUrl = /"url":"([^"]+)"[^\n]*admin gateway listening/.exec(log)?.[1];
    const ask = async (path: string) => {
      const answer = await fetch(`${adminUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: await answer.json() };
    };

    const own = byHash(3).flatMap(([name, shard]) => (shard === 2 ? [name] : []));
    expect(await ask('/appliances')).toMatchObject({
      status: 200,
      body: { appliances: own.map((name) => expect.objectContaining({ name }) as unknown) },
    });
    expect(await ask('/appliances/lb-01/parameters/createFarm')).toMatchObject({
      status: 404,
      body: { code: 'unknown_appliance' },
    });
  });
});
