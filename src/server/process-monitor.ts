import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessStatistics } from '../pages/status/exporter-panel.ts';

const intervalMs = 10_000;
const resolutionMs = 20;

export function createProcessMonitor(now: () => number) {
  const startedAtMs = now() - process.uptime() * 1_000;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let newest = measure(0);
  const timer = setInterval(() => (newest = measure(newest.memoryBytes)), intervalMs).unref();

  function measure(memoryBefore: number): ProcessStatistics {
    // The histogram includes its own resolution; before its first tick it is empty.
    const lateMs = delay.count > 0 ? delay.percentile(99) / 1e6 - resolutionMs : 0;
    delay.reset();
    return { startedAtMs, memoryBytes: residentBytes(memoryBefore), loopDelayMs: Math.max(0, lateMs) };
  }

  return {
    /**
     * Returns the statistics, which change every ten seconds only, so that an unchanged page keeps
     * its etag.
     */
    read: (): ProcessStatistics => newest,
    close(): void {
      clearInterval(timer);
      delay.disable();
    },
  };
}

function residentBytes(before: number): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    // Node reads it from a file, which cannot be opened while the process has too many open.
    return before;
  }
}
