import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../test/support/until.ts';
import { type Program, startExporterProcess } from './exporter-process.ts';

/** A running exporter that has read all of its appliances. */
export interface Exporter {
  readonly pid: number;
  readonly url: string;
  /** Resolves once it has ended. */
  stop(): Promise<void>;
}

/** All appliances have been read by then. */
const maxWarmUpMs = 240_000;

/**
 * Starts the exporter on a configuration; resolves once every collector of every appliance had its
 * first run.
 */
export async function startExporter(program: Program, configuration: object): Promise<Exporter> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  const file = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  const { pid, metricsUrl, stop } = await startExporterProcess({
    program,
    args: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
    hasGateway: false,
    onLine: () => undefined,
  });
  await until(
    async () => (await fetch(`${metricsUrl}/-/ready`)).status,
    (status) => status === 200,
    maxWarmUpMs,
  );
  return {
    pid,
    url: metricsUrl,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}
