import { randomBytes } from 'node:crypto';
import { collectorDefaults } from '../collectors/defaults.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';
import { startDaemon } from '../daemon.ts';
import { Secret } from '../lib/secret.ts';
import { type DemonstrationAppliance, startDemonstration } from '../simulator/demo.ts';
import { type CommandContext, textFlag } from './command.ts';
import { createLog } from './log.ts';
import { untilStopped } from './until-stopped.ts';

/** Runs the exporter on simulated appliances inside this process: what it is like, without an appliance. */
export async function runDemonstration({ flags, stopped, say, build }: CommandContext): Promise<number> {
  const apiKey = randomBytes(16).toString('hex');
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  const daemon = await startDaemon({
    settings: settingsFor(simulation.appliances, apiKey),
    listenAddress: textFlag(flags, 'web.listen-address'),
    build,
    // What goes wrong here goes wrong on purpose; the lines of a log would only hide the lines below.
    log: createLog({ level: textFlag(flags, 'log.level') || 'error', format: textFlag(flags, 'log.format') }),
    now: Date.now,
    random: Math.random,
  });
  say(`zlb-exporter ${build.version}: no configuration given, so this is a demonstration on simulated appliances.`);
  say('');
  for (const { name, about, appliance } of simulation.appliances)
    say(`  ${name.padEnd(12)} ${about.padEnd(58)} ${appliance.url}`);
  say('');
  say('Open');
  say(`  ${daemon.url}/          what is watched and how it is`);
  say(`  ${daemon.url}/metrics   what Prometheus scrapes`);
  say('');
  say('Try');
  say(`  curl -s '${daemon.url}/probe?target=lb-madrid' | grep zlb_farm_status | grep ' 1$'`);
  say(`  curl -s ${daemon.url}/metrics | grep -E 'zlb_(up|activation_status)'`);
  say('');
  say('Your own appliance: npm start -- --config.file=zlb.yml (README.md, "Your first appliance"). Stop with Ctrl-C.');
  await untilStopped(stopped, daemon, simulation);
  return 0;
}

/** The demonstration's appliances as a configuration would name them, each pinned to its own certificate. */
function settingsFor(appliances: readonly DemonstrationAppliance[], apiKey: string): Settings {
  const settings = appliances.map(
    ({ name, appliance }): ApplianceSettings => ({
      name,
      url: new URL(appliance.url),
      apiKey: new Secret(apiKey),
      keyHeader: 'auto',
      tls: { fingerprintSha256: appliance.fingerprintSha256, insecureSkipVerify: false },
      labels: { site: name.split('-')[1] ?? '' },
      farms: { include: [/.*/], exclude: [] },
      collectors: Object.fromEntries(collectorDefaults),
    }),
  );
  return {
    appliances: settings,
    polling: { timeoutMs: 20_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 0.25, jitterRatio: 0.1 },
    limits: { seriesPerAppliance: 50_000, bodyBytes: 8 * 1_048_576 },
  };
}
