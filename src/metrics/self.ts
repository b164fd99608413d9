import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { steadyNow } from '../lib/time.ts';
import { renderRegistry } from './render.ts';

/** A certificate or token of the exporter, which expires. */
export interface Credential {
  readonly kind: 'metrics_certificate' | 'gateway_certificate' | 'request_log_certificate' | 'token';
  /** The holder of a token; empty for a certificate. */
  readonly principal: string;
  readonly endsAtMs: number;
}

/** The result of the last load of the configuration. */
export interface ConfigurationState {
  /** False if the last read configuration was refused. */
  readonly isInForce: boolean;
  /** When the active configuration was read; undefined before the first one. */
  readonly loadedAtMs: number | undefined;
  /** The path of its file, if there is one. */
  readonly file?: string | undefined;
  /** The credentials of the active configuration. */
  readonly credentials?: readonly Credential[];
}

export interface SelfMetricsOptions {
  /** True where the appliances are simulated because there is no configuration. */
  readonly isDemonstration?: boolean;
  readonly configurationFile?: string | undefined;
  /** The credentials of the first configuration. */
  readonly credentials?: readonly Credential[];
  /** Returns the number of log lines that could not be written. */
  readonly droppedLogLines?: () => number;
}

const buildLabels = ['version', 'revision', 'node_version'] as const;
/** Labels of the exporter's own metrics, and of prom-client's about the process. */
export const selfLabels = [
  ...buildLabels,
  'credential',
  'principal',
  'reason',
  'kind',
  'major',
  'minor',
  'patch',
  'space',
] as const;

export type SelfMetrics = ReturnType<typeof createSelfMetrics>;

/** Creates the exporter's own metrics: its process, its build, its configuration. */
export function createSelfMetrics(
  build: { version: string; revision: string; nodeVersion: string },
  options: SelfMetricsOptions = {},
) {
  const { isDemonstration = false, configurationFile: file, credentials = [], droppedLogLines = () => 0 } = options;
  const processText = createProcessText();
  const registry = new Registry();
  new Gauge({
    name: 'zlb_exporter_build_info',
    help: 'Version of the exporter and of Node.js (this exporter).',
    labelNames: buildLabels,
    registers: [registry],
  }).set({ version: build.version, revision: build.revision, node_version: build.nodeVersion }, 1);
  new Gauge({
    name: 'zlb_exporter_demonstration',
    help: '1 while simulated appliances are shown because there is no configuration (this exporter).',
    registers: [registry],
  }).set(Number(isDemonstration));
  const reloaded = new Gauge({
    name: 'zlb_exporter_config_last_reload_successful',
    help: '1 when the configuration that was read last is the one in force (this exporter).',
    registers: [registry],
  });
  const reloadedAt = new Gauge({
    name: 'zlb_exporter_config_last_reload_success_timestamp_seconds',
    help: 'Unix time at which the active configuration was read (this exporter).',
    registers: [registry],
  });
  const setEnds = createCredentialEnds(registry);
  setEnds(credentials);
  const droppedLines = new Counter({
    name: 'zlb_exporter_log_lines_dropped_total',
    help: 'Log lines that could not be written: full disk, closed terminal, blocked pipe (this exporter).',
    registers: [],
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
  registry.registerMetric(droppedLines);
  const refused = new Counter({
    name: 'zlb_exporter_web_refused_total',
    help: 'Connections to the metrics listener that were refused, by reason; tls: certificate of the client, or handshake (this exporter).',
    labelNames: ['reason'],
    registers: [registry],
  });
  refused.inc({ reason: 'tls' }, 0);

  let configuration: ConfigurationState = { isInForce: true, loadedAtMs: undefined, file, credentials };

  return {
    /** For other components that register counters. */
    registry,
    get configuration(): ConfigurationState {
      return configuration;
    },
    /** Called with the credentials of the active configuration. */
    setCredentials(inForce: readonly Credential[]): void {
      configuration = { ...configuration, credentials: inForce };
      setEnds(inForce);
    },
    recordLoaded(atMs: number): void {
      configuration = { ...configuration, isInForce: true, loadedAtMs: atMs };
      reloaded.set(1);
      reloadedAt.set(atMs / 1_000);
    },
    recordRefused(): void {
      configuration = { ...configuration, isInForce: false };
      reloaded.set(0);
    },
    /** Counts a client that the metrics listener refused in its handshake. */
    countRefusedClient: (): void => refused.inc({ reason: 'tls' }),
    /** Returns the classic text format. */
    text: async (): Promise<string> => (await processText()) + (await renderRegistry(registry)),
  };
}

/** Returns a function that publishes when the active credentials expire. */
function createCredentialEnds(registry: Registry): (credentials: readonly Credential[]) => void {
  const ends = new Gauge({
    name: 'zlb_exporter_credential_not_after_timestamp_seconds',
    help: 'Unix time at which a certificate of a listener, or a token of the gateway, expires (this exporter).',
    labelNames: ['credential', 'principal'],
    registers: [registry],
  });
  return (credentials) => {
    ends.reset();
    for (const { kind, principal, endsAtMs } of credentials)
      ends.set({ credential: kind, principal }, endsAtMs / 1_000);
  };
}

/** Metrics with a wrong name (a gauge must not end in `_total`), lists of handles, and a minimum that is 2^63 ns when idle. */
const unusedMetrics = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_active_resources',
  'nodejs_eventloop_lag_min_seconds',
];

// prom-client empties its histogram of event loop lag at each rendering: the second of two
// simultaneous scrapers, such as replicas, would see only the first. Both formats share the text,
// so that a counter is not lower in one of them.
const sharedForMs = 1_000;

/**
 * Creates a function that returns CPU, memory, files, event loop and garbage collection of this
 * process as classic text, under prom-client's names; the same text for a second.
 */
function createProcessText(): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of unusedMetrics) registry.removeSingleMetric(name);
  let text = Promise.resolve('');
  let renderedAtSteadyMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowSteadyMs = steadyNow();
    if (nowSteadyMs - renderedAtSteadyMs >= sharedForMs) {
      renderedAtSteadyMs = nowSteadyMs;
      text = renderRegistry(registry);
    }
    return text;
  };
}
