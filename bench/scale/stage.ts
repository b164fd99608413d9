import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../child.ts';
import { startExporter } from '../exporter.ts';
import { createScraper, type Scraper } from '../scraper.ts';
import type { FleetSize } from './fleet-size.ts';
import type { Usage } from '../usage.ts';

/** The whole exporter and the appliances that it polls, each in its own process, scraped from this one. */
export interface Stage {
  readonly url: string;
  readonly exporter: Scraper;
  /** What the exporter used since the last look. */
  usage(): Promise<Usage>;
  close(): void;
}

const apiKey = 'benchmark0123456789';
const longestWarmUpMs = 120_000;

/** Resolves once every collector of every appliance had its first turn. */
export async function setStage(size: FleetSize): Promise<Stage> {
  const appliances = await startChild(new URL('appliances-server.ts', import.meta.url), { size, apiKey });
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const file = join(folder, 'zlb.yml');
  writeFileSync(file, configuration(appliances.report as Reported));
  const { url, usage, stop } = await startExporter(file, 'listening');
  const exporter = createScraper(url);
  const startedAtMs = performance.now();
  while ((await fetch(`${url}/-/ready`)).status !== 200) {
    if (performance.now() - startedAtMs > longestWarmUpMs) throw new Error('the exporter did not read everything');
    await pause(250);
  }
  return {
    url,
    exporter,
    usage,
    close() {
      exporter.close();
      stop();
      appliances.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

interface Reported {
  readonly urls: readonly string[];
  readonly fingerprintSha256: string;
}

/** JSON is YAML. Without the bound on the busy share the first readings are there in seconds; later ones are spread over their interval anyway. */
function configuration({ urls, fingerprintSha256 }: Reported): string {
  const appliances = urls.map((url, index) => ({
    name: nameOf(index),
    url,
    api_key: apiKey,
    tls: { fingerprint_sha256: fingerprintSha256 },
  }));
  return JSON.stringify({ appliances, polling: { max_busy_ratio: 1 } });
}

export function nameOf(index: number): string {
  return `lb-${String(index + 1).padStart(4, '0')}`;
}
