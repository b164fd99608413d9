// Imported into the process of the exporter: answers each message with what the process used since the one before, as usage.ts
// says. It is JavaScript, or Node.js would load what strips types into a program that is built and has none.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 10;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
let highestRssBytes = 0;
let since = { cpu: process.cpuUsage(), atMs: performance.now() };

setInterval(() => (highestRssBytes = Math.max(highestRssBytes, process.memoryUsage.rss())), 200).unref();
process.on('message', () => process.send(usage()));
process.on('disconnect', () => process.exit());

function usage() {
  const { user, system } = process.cpuUsage(since.cpu);
  const nowMs = performance.now();
  const { rss, heapUsed, external } = process.memoryUsage();
  const taken = {
    cpuShare: (user + system) / 1_000 / (nowMs - since.atMs),
    // The timer that it measures with is late by the delay.
    loopDelayMs: {
      p99: Math.max(0, delay.percentile(99) / 1e6 - resolutionMs),
      max: Math.max(0, delay.max / 1e6 - resolutionMs),
    },
    rssBytes: rss,
    highestRssBytes: Math.max(highestRssBytes, rss),
    heapBytes: heapUsed,
    externalBytes: external,
  };
  delay.reset();
  highestRssBytes = 0;
  since = { cpu: process.cpuUsage(), atMs: nowMs };
  return taken;
}
