import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../../app/load-settings.ts';
import type { WebSettings } from '../../config/web-settings.ts';
import { type Daemon, type DaemonParts, startDaemon } from '../../app/daemon.ts';
import { ListenError } from '../../lib/listen.ts';
import { type DemonstrationAppliance, startDemonstration } from '../../../simulator/demo.ts';
import { type CommandContext, defaultListenAddress, untilStopped } from '../command.ts';
import { demonstrationGreeting } from '../greeting.ts';
import { sendLogsTo, watchedSimulation } from './watched.ts';
import { createLog } from '../../app/log.ts';
import { makeToken } from '../token.ts';

const defaultGatewayAddress = '127.0.0.1:9445';

/** Runs the exporter on simulated appliances inside this process, for a first look. */
export async function runDemonstration(
  { flags, stopped, now, printOut, withCommandName, build, shell }: CommandContext,
  web: WebSettings | undefined,
): Promise<number> {
  const apiKey = randomBytes(16).toString('hex');
  const [demo, approver] = [makeToken(), makeToken()];
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  // The faults here are intended; their log lines would hide the greeting.
  const log = createLog({ level: flags['log.level'] ?? 'error', format: flags['log.format'] });
  const folder = await mkdtemp(join(tmpdir(), 'zlb-exporter-'));
  try {
    const digests = { demo: demo.sha256, approver: approver.sha256 };
    const content = configurationOf({ appliances: simulation.appliances, apiKey, digests, folder });
    const settings = await loadSettings({ content, env: {} });
    const { daemon, taken } = await startOnFreePorts({
      settings,
      listenAddress: flags['web.listen-address'] ?? defaultListenAddress,
      web,
      build,
      isDemonstration: true,
      withCommandName,
      log: log.logger,
      droppedLogLines: log.droppedLines,
      now,
      random: Math.random,
    });
    const { url, adminUrl } = daemon;
    const { appliances } = simulation;
    sendLogsTo(daemon.requestLogAddresses[0], appliances);
    const { paint } = shell;
    const tokens = { demo: demo.token, approver: approver.token };
    demonstrationGreeting({ version: build.version, url, adminUrl, appliances, tokens, taken, paint }).forEach(
      printOut,
    );
    await untilStopped(stopped, daemon, simulation);
    await log.flush();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

/**
 * Starts the daemon; takes free ports instead of default addresses that are in use (`taken`). An
 * address from a flag stays.
 */
async function startOnFreePorts(parts: DaemonParts): Promise<{ daemon: Daemon; taken: readonly string[] }> {
  const taken: string[] = [];
  for (let moved = parts; ; ) {
    try {
      return { daemon: await startDaemon(moved), taken };
    } catch (error) {
      const setting = error instanceof ListenError ? error.setting : undefined;
      const { settings, listenAddress } = moved;
      const { admin } = settings;
      if (setting === 'admin.listen_address' && admin?.listenAddress === defaultGatewayAddress) {
        moved = { ...moved, settings: { ...settings, admin: { ...admin, listenAddress: '127.0.0.1:0' } } };
        taken.push(defaultGatewayAddress);
      } else if (setting === '--web.listen-address' && listenAddress === defaultListenAddress) {
        moved = { ...moved, listenAddress: ':0' };
        taken.push(defaultListenAddress);
      } else throw error;
    }
  }
}

interface DemonstrationFacts {
  readonly appliances: readonly DemonstrationAppliance[];
  readonly apiKey: string;
  readonly digests: { readonly demo: string; readonly approver: string };
  /** An empty folder, for the audit. */
  readonly folder: string;
}

/**
 * Returns the configuration of the demonstration, with each appliance pinned to its certificate.
 */
function configurationOf({ appliances, apiKey, digests, folder }: DemonstrationFacts): object {
  return {
    ...watchedSimulation(appliances, apiKey, '127.0.0.1:0'),
    admin: {
      listen_address: defaultGatewayAddress,
      journal_file: join(folder, 'journal.db'),
      tokens: [
        { name: 'demo', sha256: digests.demo, role: 'admin' },
        { name: 'approver', sha256: digests.approver, role: 'admin', approver: true },
      ],
    },
  };
}
