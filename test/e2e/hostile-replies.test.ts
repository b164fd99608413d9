import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../src/simulator/scenarios.ts';
import { startSimulatedAppliance } from '../../src/simulator/server.ts';
import { startExporter } from '../support/process.ts';
import { makeMaterial, startHttpsServer } from '../support/tls-server.ts';
import { until } from '../support/until.ts';

// How long it runs; the found faults ended the process within 10 s. ZLB_HOSTILE_SECONDS=120 is the long run.
const seconds = Number(process.env.ZLB_HOSTILE_SECONDS ?? 20);
/** The old space that Node.js allows itself in a container of 1 GiB, half of it. */
const heapMebibytes = 512;

const apiKey = 'CanaryOfHostileReplies0123456789';
const escapedKey = Array.from(apiKey, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');
const good = ['good-1', 'good-2', 'good-3'] as const;

const many = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');
const farm = (index: number, status = 'up'): string => `{"farmname":"f${index}","status":"${status}"}`;
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** What each hostile appliance answers to every call, and the reason of its failure; none where it is within the bounds. */
const hostile: Readonly<Record<string, readonly [reason: string | undefined, ...replies: readonly string[]]>> = {
  'empty-objects': [
    'oversize',
    `{"z":"\\\\","farms":[${many(1_300_000, () => '{}')}],"params":[${many(1_300_000, () => '{}')}]}`,
  ],
  'nested-key': ['malformed', `{"farms":[{"farmname":"${escapedKey}"}],"zz":${nested(20_000)}}`],
  'many-farms': ['oversize', `{"farms":[${many(190_000, (index) => farm(index))}]}`],
  'many-objects': ['oversize', `{"farms":[${many(500_000, (index) => `{"f":${index}}`)}]}`],
  'deep-arrays': ['malformed', `{"farms":${nested(4_000_000)}}`],
  'many-arrays': ['oversize', `{"farms":[${many(2_700_000, () => '[]')}]}`],
  // All that is read of an appliance, and each state another at each poll.
  'changing-farms': [
    undefined,
    `{"farms":[${many(10_000, (index) => farm(index))}]}`,
    `{"farms":[${many(10_000, (index) => farm(index, 'down'))}]}`,
  ],
  'key-in-names': [
    undefined,
    `{"farms":[${many(5_000, (index) => farm(index).replace(`"f${index}`, `"${index % 2 ? apiKey : escapedKey}${index}`))}]}`,
  ],
};

async function givenAppliances(): Promise<string> {
  const material = await makeMaterial();
  const entry = (name: string, url: string, fingerprint: string) => ({
    name,
    url,
    api_key: apiKey,
    tls: { fingerprint_sha256: fingerprint },
  });
  const appliances = [];
  for (const name of good) {
    const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey });
    onTestFinished(() => appliance.close());
    appliances.push(entry(name, appliance.url, appliance.fingerprintSha256));
  }
  for (const [name, [, ...texts]] of Object.entries(hostile)) {
    const replies = texts.map((text) => Buffer.from(text));
    let calls = 0;
    const server = await startHttpsServer(
      (response) => {
        const reply = replies[calls % replies.length] ?? Buffer.of();
        calls += 1;
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length }).end(reply);
      },
      { material },
    );
    appliances.push(entry(name, `${server.url.origin}/api/v4.0/api.cgi`, material.fingerprintSha256));
  }
  const folder = mkdtempSync(join(tmpdir(), 'zlb-hostile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'zlb.yml');
  // JSON is YAML. All else is the default.
  writeFileSync(file, JSON.stringify({ appliances }));
  return file;
}

/** Whether the farms of an appliance were read once, or failed for a reason. */
function hasShown(page: string, name: string, reason: string | undefined): boolean {
  const labels = `{appliance="${name}",collector="farms"`;
  return reason === undefined
    ? valueOf(page, `zlb_collector_success${labels}}`) === 1
    : (valueOf(page, `zlb_collector_errors_total${labels},reason="${reason}"}`) ?? 0) > 0;
}

/** The lines that count failed calls of an appliance. */
function failuresOf(page: string, name: string): readonly string[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`zlb_collector_errors_total{appliance="${name}"`) && !line.endsWith(' 0'));
}

const bodyOf = async (url: string): Promise<string> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  expect(answer.status, url).toBe(200);
  return await answer.text();
};

/** The value of a series, by the beginning of its line. */
function valueOf(page: string, series: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

it(
  `survives hostile replies with the heap of a machine of 1 GiB for ${seconds} s, and polls all others on time`,
  async () => {
    const file = await givenAppliances();
    const exporter = startExporter([`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'], {
      NODE_OPTIONS: `--max-old-space-size=${heapMebibytes}`,
    });
    const url = await exporter.url();
    const seen = { delayMs: 0, healthMs: 0, residentMebibytes: 0, farmsAgeSeconds: 0, lateSeconds: 0 };
    const farmsReadAt = new Map<string, Set<number>>(good.map((name) => [name, new Set()]));

    const look = async (): Promise<string> => {
      const askedAt = performance.now();
      await bodyOf(`${url}/-/healthy`);
      seen.healthMs = Math.max(seen.healthMs, performance.now() - askedAt);
      const page = await bodyOf(`${url}/metrics`);
      seen.delayMs = Math.max(seen.delayMs, (valueOf(page, 'nodejs_eventloop_lag_max_seconds') ?? 0) * 1_000);
      seen.residentMebibytes = Math.max(
        seen.residentMebibytes,
        (valueOf(page, 'process_resident_memory_bytes') ?? 0) / 1_048_576,
      );
      for (const name of good) {
        const series = `zlb_collector_last_success_timestamp_seconds{appliance="${name}",collector="farms"}`;
        const readAt = valueOf(page, series);
        if (readAt === undefined) continue;
        farmsReadAt.get(name)?.add(readAt);
        const ageSeconds = Date.now() / 1_000 - readAt;
        // 30 s, or more where the appliances answer slowly since the machine is busy, and a jitter of a tenth.
        const interval = `zlb_collector_interval_seconds{appliance="${name}",collector="farms"}`;
        seen.farmsAgeSeconds = Math.max(seen.farmsAgeSeconds, ageSeconds);
        seen.lateSeconds = Math.max(seen.lateSeconds, ageSeconds - 1.1 * (valueOf(page, interval) ?? 0));
      }
      return page;
    };

    await until(look, () => [...farmsReadAt.values()].every(({ size }) => size > 0), 30_000);
    // Each hostile appliance has had its say about its farms.
    await until(
      async () => {
        const page = await look();
        return Object.entries(hostile).flatMap(([name, [reason]]) => (hasShown(page, name, reason) ? [] : [name]));
      },
      (missing) => missing.length === 0,
      60_000,
    );
    const startedAt = performance.now();
    while (performance.now() - startedAt < seconds * 1_000) {
      await look();
      await wait(250);
    }

    const outputs = {
      metrics: await look(),
      page: await bodyOf(`${url}/`),
      api: await bodyOf(`${url}/api/status`),
      log: exporter.stdout() + exporter.stderr(),
    };
    console.log(
      `${seconds} s of hostile replies: longest event loop delay ${seen.delayMs.toFixed(0)} ms, slowest /-/healthy ${seen.healthMs.toFixed(0)} ms, ` +
        `resident at most ${seen.residentMebibytes.toFixed(0)} MiB, oldest farms of the others ${seen.farmsAgeSeconds.toFixed(1)} s, ${seen.lateSeconds.toFixed(1)} s late at most`,
    );
    for (const [name, text] of Object.entries(outputs)) {
      expect(text.includes(apiKey), name).toBe(false);
      expect(text.includes(escapedKey), name).toBe(false);
    }
    for (const name of good) {
      expect(valueOf(outputs.metrics, `zlb_up{appliance="${name}"}`)).toBe(1);
      expect(failuresOf(outputs.metrics, name)).toEqual([]);
      expect(farmsReadAt.get(name)?.size).toBeGreaterThanOrEqual(Math.floor(seconds / 30));
    }
    // A missed cycle would be 30 s. The good appliances share a process with the hostile ones, so that they answer late.
    expect(seen.lateSeconds).toBeLessThan(30);
    expect(seen.residentMebibytes).toBeLessThan(1_024);
    expect(await exporter.stop('SIGTERM')).toMatchObject({ code: 0 });
  },
  180_000 + seconds * 1_000,
);
