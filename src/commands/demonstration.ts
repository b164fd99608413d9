import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectorDefaults } from '../collectors/defaults.ts';
import type { AdminSettings } from '../config/admin-settings.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';
import type { WebSettings } from '../config/web-settings.ts';
import { type Daemon, type DaemonParts, startDaemon } from '../daemon.ts';
import { ListenError } from '../http/listen.ts';
import { Secret } from '../lib/secret.ts';
import { type DemonstrationAppliance, startDemonstration } from '../simulator/demo.ts';
import { type CommandContext, textFlag } from './command.ts';
import { createLog } from './log.ts';
import { makeToken } from './make-token.ts';
import { untilStopped } from './until-stopped.ts';

/** Runs the exporter on simulated appliances inside this process: what it is like, without an appliance. */
export async function runDemonstration(
  { flags, stopped, say, build }: CommandContext,
  web: WebSettings | undefined,
): Promise<number> {
  const apiKey = randomBytes(16).toString('hex');
  const { token, sha256 } = makeToken();
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  const folder = await mkdtemp(join(tmpdir(), 'zlb-exporter-'));
  try {
    const daemon = await startWithGateway({
      settings: { ...settingsFor(simulation.appliances, apiKey), admin: adminSettings(sha256, folder) },
      listenAddress: textFlag(flags, 'web.listen-address'),
      web,
      build,
      // What goes wrong here goes wrong on purpose; the lines of a log would only hide the lines below.
      log: createLog({ level: textFlag(flags, 'log.level') || 'error', format: textFlag(flags, 'log.format') }),
      now: Date.now,
      random: Math.random,
    });
    for (const line of introduction(build.version, simulation.appliances, daemon, token)) say(line);
    await untilStopped(stopped, daemon, simulation);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

function introduction(
  version: string,
  appliances: readonly DemonstrationAppliance[],
  { url, adminUrl = '' }: Daemon,
  token: string,
): readonly string[] {
  return [
    `zlb-exporter ${version}: no configuration given, so this is a demonstration on simulated appliances.`,
    '',
    ...appliances.map(({ name, about, appliance }) => `  ${name.padEnd(12)} ${about.padEnd(58)} ${appliance.url}`),
    '',
    'Open',
    `  ${url}/          what is watched and how it is`,
    `  ${url}/metrics   what Prometheus scrapes`,
    `  ${adminUrl}/docs      every operation of the API, to read and try, with the token below`,
    '',
    'Try',
    `  curl -s '${url}/probe?target=lb-madrid' | grep zlb_farm_status | grep ' 1$'`,
    `  curl -s ${url}/metrics | grep -E 'zlb_(up|activation_status)'`,
    `  export ZLB_ADMIN_URL=${adminUrl} ZLB_ADMIN_TOKEN=${token}`,
    '  npm start -- admin lb-madrid readFarmStatus farmname=shop',
    `  npm start -- admin lb-madrid actOnFarm farmname=shop action=restart --reason='trying it' --dry-run`,
    '',
    'Your own appliance: npm start -- --config.file=zlb.yml (README.md, "Your first appliance"). Stop with Ctrl-C.',
  ];
}

/** Where the address of the gateway is taken, any other will do for a demonstration. */
async function startWithGateway({ settings, ...parts }: DaemonParts): Promise<Daemon> {
  try {
    return await startDaemon({ ...parts, settings });
  } catch (error) {
    if (!(error instanceof ListenError) || error.setting !== 'admin.listen_address' || !settings.admin) throw error;
    return await startDaemon({
      ...parts,
      settings: { ...settings, admin: { ...settings.admin, listenAddress: '127.0.0.1:0' } },
    });
  }
}

/** One token for everything. */
function adminSettings(sha256: string, folder: string): AdminSettings {
  return {
    listenAddress: '127.0.0.1:9445',
    auditFile: join(folder, 'audit.jsonl'),
    auditFileBytes: 64 * 1_048_576,
    timeoutMs: 90_000,
    uploadBytes: 256 * 1_048_576,
    downloadBytes: 1_024 * 1_048_576,
    maxConcurrentPerAppliance: 2,
    tokens: [{ name: 'demo', sha256, role: 'admin', appliances: ['*'], deny: [], skipConfirmation: false }],
  };
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
      compact: false,
      collectors: Object.fromEntries(collectorDefaults),
    }),
  );
  return {
    appliances: settings,
    polling: { timeoutMs: 20_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 0.25, jitterRatio: 0.1 },
    limits: { seriesPerAppliance: 50_000, bodyBytes: 8 * 1_048_576 },
  };
}
