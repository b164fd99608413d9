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

/** One sample of the exporter's page. */
export interface Sample {
  readonly metric: string;
  /** As on the page, but for `appliance`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it is one of an appliance, and not the exporter's own. */
  readonly ofAppliance: boolean;
  readonly value: string;
}

export const job = 'zlb';
/** The instance of the exporter's own metrics, a separate target. */
const ownInstance = 'exporter';

/** Reads a page with one appliance, on which every collector has failed once. */
export function readSamples(page: string): readonly Sample[] {
  const samples = [...page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, metric = '', text = '', value = '']): Sample => {
      const { appliance, ...labels } = Object.fromEntries(
        [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', is = '']) => [name, is]),
      );
      return {
        metric,
        labels: { ...labels, ...(appliance === '' ? { appliance } : {}) },
        ofAppliance: !!appliance,
        value,
      };
    },
  );
  // These counters are not on the page before their first occurrence.
  const failures = samples
    .filter(({ metric, labels }) => metric === 'zlb_collector_runs_total' && labels['outcome'] === 'failure')
    .map((runs) => ({
      ...runs,
      metric: 'zlb_collector_errors_total',
      labels: { collector: runs.labels['collector'] ?? '', reason: 'timeout' },
      value: '1',
    }));
  const breakGlass = {
    metric: 'zlb_admin_change_requests_total',
    labels: { outcome: 'break_glass' },
    ofAppliance: false,
    value: '1',
  };
  return [...samples, ...failures, breakGlass];
}

/**
 * How a sample is written on the page of an appliance, and how Prometheus keeps it: with the labels
 * of the target.
 */
export function seriesOf(sample: Sample, appliance: string, kept: 'scraped' | 'stored' = 'scraped'): string {
  const labels = {
    ...(sample.ofAppliance ? { appliance } : {}),
    ...sample.labels,
    ...(kept === 'stored' ? { instance: sample.ofAppliance ? appliance : ownInstance, job } : {}),
  };
  const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${sample.metric}{${text.join(',')}}`;
}
