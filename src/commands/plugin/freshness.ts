import { alertThresholds } from '../../lib/alert-thresholds.ts';
import { formatDuration } from '../../lib/time.ts';
import type { MonitoredCollector, Seen } from './exporter-reply.ts';
import { NothingKnown } from './check-result.ts';

/** Returns why what a collector reads must not be shown as fresh; undefined if it may. */
export function overdue(collector: MonitoredCollector, nowMs: number): string | undefined {
  const { name, lastSuccessMs, intervalMs, isStale, failure } = collector;
  const because = failure ? ` (${failure.reason})` : '';
  if (lastSuccessMs == null) return `${name} was not read since the exporter was started${because}`;
  const ageMs = nowMs - lastSuccessMs;
  if (!isStale && ageMs <= alertThresholds.collectorStaleIntervals * intervalMs) return undefined;
  return `the last good reading of ${name} is ${formatDuration(ageMs)} old${because}`;
}

/** Throws NothingKnown if the readings of a collector are absent or too old. */
export function requireFresh({ appliance, nowMs }: Seen, name: string): void {
  const collector = appliance.collectors.find((each) => each.name === name);
  if (!collector) throw new NothingKnown(`the exporter does not read ${name} from ${appliance.name}`);
  if (!collector.isSupported) throw new NothingKnown(`${appliance.name} does not offer ${name}`);
  const problem = overdue(collector, nowMs);
  if (problem !== undefined) throw new NothingKnown(`${appliance.name}: ${problem}`);
}
