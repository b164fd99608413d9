import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { operationRoutes } from '../../src/appliance/operation-routes.ts';
import { readBuildInfo } from '../../src/build-info.ts';
import { collectorDefaults } from '../../src/collectors/defaults.ts';
import { loadSettings } from '../../src/config/load.ts';
import { startDaemon } from '../../src/daemon.ts';
import type { Usage } from './usage.ts';

// The child process that is the whole exporter, as its configuration file says. Each further message is answered with what
// it used since the one before. It logs as it does at work, to nobody.
process.once('message', ({ file }: { file: string }) => void start(file));
process.on('disconnect', () => process.exit());

const resolutionMs = 10;

async function start(file: string): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let highestRssBytes = 0;
  setInterval(() => (highestRssBytes = Math.max(highestRssBytes, process.memoryUsage.rss())), 200).unref();
  let since = { cpu: process.cpuUsage(), atMs: performance.now() };

  const { url } = await startDaemon({
    settings: await loadSettings({ file, env: {}, collectorDefaults, operations: operationRoutes() }),
    listenAddress: '127.0.0.1:0',
    build: readBuildInfo({}),
    log: pino({ level: 'info' }, pino.destination('/dev/null')),
    now: Date.now,
    random: Math.random,
  });
  process.on('message', () => process.send?.(usage()));
  process.send?.({ url });

  function usage(): Usage {
    const { user, system } = process.cpuUsage(since.cpu);
    const nowMs = performance.now();
    const { rss, heapUsed, external } = process.memoryUsage();
    const taken: Usage = {
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
}
