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
import { demonstrationGreeting } from './greeting.ts';
import { createLog } from './log.ts';
import { makeToken } from './make-token.ts';
import { untilStopped } from './until-stopped.ts';

const defaultAddress = ':9444';
const defaultGatewayAddress = '127.0.0.1:9445';

/** Runs the exporter on simulated appliances inside this process, for a first look. */
export async function runDemonstration(
  { flags, stopped, say, spoken, build, shell }: CommandContext,
  web: WebSettings | undefined,
): Promise<number> {
  const apiKey = randomBytes(16).toString('hex');
  const { token, sha256 } = makeToken();
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  // The faults here are intended; their log lines would hide the greeting.
  const log = createLog({ level: textFlag(flags, 'log.level') || 'error', format: textFlag(flags, 'log.format') });
  const folder = await mkdtemp(join(tmpdir(), 'zlb-exporter-'));
  try {
    const { daemon, taken } = await startWhereFree({
      settings: { ...settingsFor(simulation.appliances, apiKey), admin: adminSettings(sha256, folder) },
      listenAddress: textFlag(flags, 'web.listen-address'),
      web,
      build,
      isDemonstration: true,
      spoken,
      log: log.logger,
      droppedLogLines: log.droppedLines,
      now: Date.now,
      random: Math.random,
    });
    const { url, adminUrl } = daemon;
    const { appliances } = simulation;
    const { paint } = shell;
    demonstrationGreeting({ version: build.version, url, adminUrl, appliances, token, taken, paint }).forEach(say);
    await untilStopped(stopped, daemon, simulation);
    await log.flush();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

interface Started {
  readonly daemon: Daemon;
  /** Default addresses that were in use. */
  readonly taken: readonly string[];
}

/** Starts the daemon; takes free ports instead of default addresses that are in use. An address from a flag stays. */
async function startWhereFree(parts: DaemonParts, taken: readonly string[] = []): Promise<Started> {
  try {
    return { daemon: await startDaemon(parts), taken };
  } catch (error) {
    const elsewhere = error instanceof ListenError ? onFreePort(parts, error.setting) : undefined;
    if (!elsewhere) throw error;
    return await startWhereFree(elsewhere.parts, [...taken, elsewhere.instead]);
  }
}

function onFreePort(parts: DaemonParts, setting: string): { parts: DaemonParts; instead: string } | undefined {
  const { settings, listenAddress } = parts;
  const { admin } = settings;
  if (setting === 'admin.listen_address' && admin?.listenAddress === defaultGatewayAddress) {
    const moved = { ...settings, admin: { ...admin, listenAddress: '127.0.0.1:0' } };
    return { parts: { ...parts, settings: moved }, instead: defaultGatewayAddress };
  }
  if (setting === '--web.listen-address' && listenAddress === defaultAddress)
    return { parts: { ...parts, listenAddress: ':0' }, instead: defaultAddress };
  return undefined;
}

/** Returns settings of the gateway with one token for everything. */
function adminSettings(sha256: string, folder: string): AdminSettings {
  return {
    listenAddress: defaultGatewayAddress,
    auditFile: join(folder, 'audit.jsonl'),
    auditFileBytes: 64 * 1_048_576,
    timeoutMs: 90_000,
    uploadBytes: 256 * 1_048_576,
    downloadBytes: 1_024 * 1_048_576,
    maxConcurrentPerAppliance: 2,
    tokens: [
      { name: 'demo', sha256, role: 'admin', appliances: ['*'], deny: [], skipConfirmation: false, guards: 'refuse' },
    ],
  };
}

/** Returns settings as a configuration would give them, each appliance pinned to its certificate. */
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
