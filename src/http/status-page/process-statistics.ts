import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Statistics of the exporter's process. */
export interface ProcessStatistics {
  readonly startedAtMs: number;
  readonly memoryBytes: number;
  /** 99th percentile of the event-loop delay over the last ten seconds. */
  readonly loopDelayMs: number;
}

export interface ProcessMonitor {
  /**
   * Returns the statistics, which change every ten seconds only, so that an unchanged page keeps
   * its etag.
   */
  read(): ProcessStatistics;
  close(): void;
}

const intervalMs = 10_000;
const resolutionMs = 20;

export function createProcessMonitor(now: () => number): ProcessMonitor {
  const startedAtMs = now() - process.uptime() * 1_000;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let newest = measure();
  const timer = setInterval(() => (newest = measure()), intervalMs).unref();

  function measure(): ProcessStatistics {
    // The histogram includes its own resolution; before its first tick it is empty.
    const lateMs = delay.count > 0 ? delay.percentile(99) / 1e6 - resolutionMs : 0;
    delay.reset();
    return { startedAtMs, memoryBytes: process.memoryUsage.rss(), loopDelayMs: Math.max(0, lateMs) };
  }

  return {
    read: () => newest,
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
