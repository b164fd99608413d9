import { isZoneKnown } from '../lib/cron.ts';
import { hasEnvironmentAppliance } from '../config/environment.ts';
import { loadSettings } from '../app/load-settings.ts';
import { loadBoth } from '../config/load.ts';
import { parseShard, settingsOfShard } from '../config/settings.ts';
import { loadWebSettings } from '../config/web-settings.ts';
import { ConfigurationSource } from '../app/configuration-source.ts';
import { type Daemon, startDaemon } from '../app/daemon.ts';
import { type Command, defaultListenAddress, untilStopped, UsageError } from './command.ts';
import { configurationFile } from './configuration-file.ts';
import { greeting } from './greeting.ts';
import { createLog } from '../app/log.ts';

export const demo: Command = async (context) => {
  const webFile = context.flags['web.config.file'];
  // Loaded here only: a real exporter does not need the simulated appliances.
  const { runDemonstration } = await import('./demonstration/demonstration.ts');
  const web = webFile === undefined ? undefined : await loadWebSettings({ file: webFile, env: context.env });
  return await runDemonstration(context, web);
};

/** Runs the exporter; without a configuration, on simulated appliances. */
export const run: Command = async (context) => {
  const { flags, env, stopped, build, onHangup, printOut, shell } = context;
  const file = configurationFile(context);
  const webFile = flags['web.config.file'];
  if (file === undefined && !hasEnvironmentAppliance(env)) {
    if (flags.shard !== undefined)
      throw new UsageError('--shard divides the appliances of a configuration: give --config.file=PATH as well');
    return await demo(context);
  }

  let daemon: Daemon | undefined;
  let wantsReload = false;
  // First: SIGHUP during the start must not end the process, and the reload must not be forgotten.
  onHangup(() => {
    wantsReload = true;
    void daemon?.reload();
  });
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard);
  const source = new ConfigurationSource(
    [file, webFile].filter((path) => path !== undefined),
    async (files) => {
      const [settings, web] = await loadBoth(
        loadSettings({ file, env, files }),
        webFile === undefined ? Promise.resolve(undefined) : loadWebSettings({ file: webFile, env, files }),
      );
      return { settings: settingsOfShard(settings, shard), web };
    },
  );
  // A file may hang.
  const configuration = await Promise.race([source.load(), untilStopped(stopped)]);
  if (!configuration) return 0;
  const log = createLog({ level: flags['log.level'] ?? 'info', format: flags['log.format'] });
  const { version } = build;
  log.logger.info({ version, node: process.versions.node, configuration: file ?? 'environment' }, 'starting');
  if (!isZoneKnown())
    log.logger.warn({ TZ: env.TZ }, 'the time zone is not known; schedules that name hours run in UTC');
  daemon = await startDaemon({
    ...configuration,
    source,
    enableLifecycle: flags['web.enable-lifecycle'] === true,
    listenAddress: flags['web.listen-address'] ?? defaultListenAddress,
    build,
    withCommandName: context.withCommandName,
    configurationFile: file,
    log: log.logger,
    droppedLogLines: log.droppedLines,
    now: context.now,
    random: Math.random,
  });
  if (shell.outputIsTerminal) {
    const { url, adminUrl } = daemon;
    const { length } = configuration.settings.appliances;
    greeting({ version, url, adminUrl, paint: shell.paint }, length).forEach(printOut);
  }
  if (wantsReload) void daemon.reload();
  await untilStopped(stopped, daemon);
  await log.flush();
  return 0;
};
