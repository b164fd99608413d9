import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Format } from './exposition.ts';

/** The exporter's own metrics: its build, its configuration, its process. Few, so prom-client renders them at each scrape. */
export interface SelfMetrics {
  /** Finished text; in OpenMetrics without the closing `# EOF`. */
  text(format: Format): Promise<string>;
  configurationLoaded(atMs: number): void;
}

/** Names that break the naming rules (a gauge must not end in `_total`), and lists of handles that nobody alerts on. */
const unwanted = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_requests',
];

export function createSelfMetrics(build: { version: string; revision: string; nodeVersion: string }): SelfMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of unwanted) registry.removeSingleMetric(name);

  new Gauge({
    name: 'zlb_exporter_build_info',
    help: 'What runs here (this exporter).',
    labelNames: ['version', 'revision', 'node_version'],
    registers: [registry],
  }).set({ version: build.version, revision: build.revision, node_version: build.nodeVersion }, 1);
  const reloaded = new Gauge({
    name: 'zlb_exporter_config_last_reload_successful',
    help: '1 when the configuration that was read last is the one in force (this exporter).',
    registers: [registry],
  });
  const reloadedAt = new Gauge({
    name: 'zlb_exporter_config_last_reload_success_timestamp_seconds',
    help: 'Unix time at which the configuration in force was read (this exporter).',
    registers: [registry],
  });

  return {
    configurationLoaded(atMs) {
      reloaded.set(1);
      reloadedAt.set(atMs / 1_000);
    },
    async text(format) {
      // Always the classic form: rendering OpenMetrics once makes prom-client 15.1.3 lose `_total` in all later classic ones.
      const text = `${await registry.metrics()}\n`;
      return format === 'text' ? text : toOpenMetrics(text);
    },
  };
}

/** Counter families are named without their suffix in OpenMetrics; samples stay as they are, and blank lines are not allowed. */
function toOpenMetrics(text: string): string {
  const counters = new Set([...text.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => name));
  return text
    .replaceAll(/^(# (?:HELP|TYPE) )(\S+)_total /gm, (line, start: string, name: string) =>
      counters.has(name) ? `${start}${name} ` : line,
    )
    .replaceAll(/\n{2,}/g, '\n')
    .replaceAll(/ Nan$/gm, ' NaN');
}
