import { operationRoutes } from '../appliance/operation-routes.ts';
import { collectorDefaults } from '../collectors/defaults.ts';
import { hasEnvironmentAppliance } from '../config/environment.ts';
import { loadSettings } from '../config/load.ts';
import { loadWebSettings } from '../config/web-settings.ts';
import { startDaemon } from '../daemon.ts';
import { type Command, textFlag } from './command.ts';
import { createLog } from './log.ts';
import { untilStopped } from './until-stopped.ts';

/** The exporter itself; without any configuration, on simulated appliances. */
export const run: Command = async (context) => {
  const { flags, env, stopped, build } = context;
  const file = flags['config.file'];
  const webFile = flags['web.config.file'];
  const web = typeof webFile === 'string' ? await loadWebSettings({ file: webFile, env }) : undefined;
  if (typeof file !== 'string' && !hasEnvironmentAppliance(env)) {
    // Loaded only here: an exporter at work has no use for the simulated appliances.
    const { runDemonstration } = await import('./demonstration.ts');
    return await runDemonstration(context, web);
  }

  const settings = await loadSettings({
    ...(typeof file === 'string' ? { file } : {}),
    env,
    collectorDefaults,
    operations: operationRoutes(),
  });
  const daemon = await startDaemon({
    settings,
    web,
    listenAddress: textFlag(flags, 'web.listen-address'),
    build,
    log: createLog({ level: textFlag(flags, 'log.level') || 'info', format: textFlag(flags, 'log.format') }),
    now: Date.now,
    random: Math.random,
  });
  await untilStopped(stopped, daemon);
  return 0;
};
