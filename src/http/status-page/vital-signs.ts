import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How the process of the exporter is. */
export interface VitalSigns {
  readonly startedAtMs: number;
  readonly memoryBytes: number;
  /** How late the event loop was in the last ten seconds, at the 99th percentile. */
  readonly loopDelayMs: number;
}

export interface Thermometer {
  /** Measured anew every ten seconds, so that a page on which nothing happened stays the same. */
  read(): VitalSigns;
  close(): void;
}

const everyMs = 10_000;
const resolutionMs = 20;

export function createThermometer(now: () => number): Thermometer {
  const startedAtMs = now() - process.uptime() * 1_000;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let newest = measure();
  const timer = setInterval(() => (newest = measure()), everyMs).unref();

  function measure(): VitalSigns {
    // The timer that it measures with is late by the delay; before its first tick there is no figure.
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
