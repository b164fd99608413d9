import { pino } from 'pino';
import { operationRoutes } from '../src/appliance/operation-routes.ts';
import { readBuildInfo } from '../src/build-info.ts';
import { collectorDefaults } from '../src/collectors/defaults.ts';
import { loadSettings } from '../src/config/load.ts';
import { startDaemon } from '../src/daemon.ts';

// The child process that is the whole exporter, as its configuration file says. It logs as it does at work, to nobody.
process.once('message', ({ file }: { file: string }) => void start(file));
process.on('disconnect', () => process.exit());

async function start(file: string): Promise<void> {
  const { adminUrl } = await startDaemon({
    settings: await loadSettings({ file, env: {}, collectorDefaults, operations: operationRoutes() }),
    listenAddress: '127.0.0.1:0',
    build: readBuildInfo({}),
    log: pino({ level: 'info' }, pino.destination('/dev/null')),
    now: Date.now,
    random: Math.random,
  });
  process.send?.({ url: adminUrl });
}
