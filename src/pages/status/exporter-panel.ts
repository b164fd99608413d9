import { alertSeverities } from '../../state/level.ts';
import { type HealthSummary, sumCounts } from '../../state/health.ts';
import { stateMark } from '../marks.ts';
import type { ConfigurationState, Credential } from '../../metrics/self.ts';
import { html, type Markup } from '../html.ts';
import { freshnessText, type ShardInfo } from './overall-status.ts';
import type { Problem } from '../../state/problem.ts';
import { alertThresholds } from '../../state/alert-thresholds.ts';
import { span } from '../../lib/time.ts';
import { definitionList } from './section.ts';
import { age, clockTime } from '../times.ts';

export interface ProcessStatistics {
  readonly startedAtMs: number;
  readonly memoryBytes: number;
  /** 99th percentile of the event-loop delay over the last ten seconds. */
  readonly loopDelayMs: number;
}

export interface ExporterInfo {
  readonly version: string;
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration: boolean;
  /** True once the first collectors of all appliances have run. */
  readonly isReady: boolean;
  readonly processStatistics: ProcessStatistics;
  readonly configuration: ConfigurationState;
  /** Base URL of the admin gateway; undefined while it is off. */
  readonly adminUrl: string | undefined;
  /** Undefined if all configured appliances are watched here. */
  readonly shard?: ShardInfo | undefined;
}

export function exporterProblem({ configuration }: ExporterInfo): Problem | undefined {
  if (configuration.isInForce) return undefined;
  return {
    about: 'exporter',
    level: alertSeverities.ZlbExporterFault,
    appliance: undefined,
    title: 'The exporter refused its new configuration',
    meaning: 'The previous one stays in force. The log says what is wrong with the new one.',
    alert: 'ZlbExporterFault',
  };
}

const mebibyte = 1_048_576;

export function exporterPanel(
  { version, isReady, processStatistics, configuration }: ExporterInfo,
  summary: HealthSummary,
): Markup {
  const nowMs = summary.takenAtMs;
  const { startedAtMs, memoryBytes, loopDelayMs } = processStatistics;
  const fresh = sumCounts(summary.perAppliance.map((each) => each.freshness)).get('fresh') ?? 0;
  const readings = [fresh > 0 && `${fresh.toLocaleString('en')} fresh`, freshnessText(summary.perAppliance)].filter(
    Boolean,
  );
  const series = summary.perAppliance.reduce((sum, { status }) => sum + status.series, 0);
  const inForce = configuration.isInForce ? stateMark('well', 'in force') : stateMark('warning', 'refused');
  const read =
    configuration.loadedAtMs !== undefined && html` <small>read ${clockTime(configuration.loadedAtMs)}</small>`;
  return definitionList([
    ['Version', version],
    ['Runs for', age(startedAtMs, nowMs)],
    ['First round', isReady ? 'done' : stateMark('unknown', 'under way')],
    ['Readings', readings.length === 0 ? 'none' : readings.join(', ')],
    ['Series of readings', html`${series.toLocaleString('en')} <small>on /metrics with those of the exporter</small>`],
    ['Memory', `${Math.round(memoryBytes / mebibyte / 5) * 5} MiB`],
    ['Loop delay', loopDelayMs < 5 ? 'under 5 ms' : `${Math.round(loopDelayMs / 5) * 5} ms`],
    ['Configuration', html`${inForce}${read}`],
    ...nextExpiryEntry(configuration.credentials, nowMs),
  ]);
}

const credentialWords: Readonly<Record<Credential['kind'], string>> = {
  metrics_certificate: 'certificate of this listener',
  gateway_certificate: 'certificate of the gateway',
  request_log_certificate: 'certificate of the log of requests',
  token: 'token of',
};

/** Returns the certificate or token of the exporter that expires first, as an entry of the list. */
function nextExpiryEntry(
  credentials: readonly Credential[] = [],
  nowMs: number,
): readonly (readonly [string, Markup])[] {
  const [first] = credentials.toSorted((one, other) => one.endsAtMs - other.endsAtMs);
  if (!first) return [];
  const { kind, principal, endsAtMs } = first;
  const leftMs = endsAtMs - nowMs;
  const when = leftMs > 0 ? `in ${span(leftMs)}` : 'expired';
  const mark = leftMs > alertThresholds.credentialSeconds * 1_000 ? when : stateMark('warning', when);
  return [['Ends first', html`${mark} <small>${credentialWords[kind]} <bdi>${principal}</bdi></small>`]];
}

const onThisMachine = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::|$)/;

export function linkPanel({ adminUrl }: ExporterInfo): Markup {
  return html`<ul class="links">
<li><a href="./metrics">Metrics</a> <small>what Prometheus scrapes</small></li>
<li><a href="./api/status">Status as JSON</a> <small>all that is on this page</small></li>
<li><a href="./sd">Service discovery</a> <small>one target for each appliance</small></li>
<li><a href="./runbooks">Runbooks</a> <small>what to do about each alert</small></li>
<li><a href="./-/ready">Ready</a> · <a href="./-/healthy">healthy</a> <small>for probes</small></li>
<li>${
    adminUrl === undefined
      ? html`<span class="faint">The admin gateway is off.</span>`
      : html`<a href="${`${adminUrl}/docs`}">Admin API</a> <small>every operation, with a token${onThisMachine.test(adminUrl) && ' · only on the exporter’s own machine'}</small></li>
<li><a href="${`${adminUrl}/console`}">Changes</a> <small>those that wait for a decision</small>`
  }</li></ul>`;
}
