import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pino } from 'pino';
import { type Dispatcher, Pool } from 'undici';
import { onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import type { AdminSettings, ApplianceSettings, Settings, TokenSettings } from '../../src/config/settings.ts';
import { type DaemonParts, startDaemon } from '../../src/app/daemon.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { givenEntry } from './given-principal.ts';
import { linesOf, recordsOf } from './journal-file.ts';
import { noThreads } from './no-threads.ts';
import { settingsOf } from './settings.ts';

export const roles = ['viewer', 'operator', 'admin'] as const;
type Role = (typeof roles)[number];

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: Record<string, unknown> | undefined;
}

export interface GatewayCall {
  /** A token, or a role whose token is meant; `none` sends no credentials. */
  readonly as?: string;
  readonly json?: unknown;
  /** A stream goes in chunks, without a length. */
  readonly body?: string | Buffer | Readable;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type CallGateway = (method: string, path: string, call?: GatewayCall) => Promise<GatewayAnswer>;

/** The appliance's polling key and its admin key; tests search for both. */
export const pollingKey = 'CanaryPollingKey0123';
export const adminKey = 'CanaryAdminKey456789';

export interface GivenOptions {
  readonly tokens?: readonly (Partial<TokenSettings> & { readonly token: string })[];
  readonly admin?: Partial<AdminSettings>;
  /** Differences from the defaults of `admin.approvals`. */
  readonly approvals?: Partial<AdminSettings['approvals']>;
  /** Collectors that run, at the start and then once a day; none unless named. */
  readonly polls?: readonly string[];
  /**
   * Lets the farms listen, and switches the collector vip on; returns its block in the
   * configuration.
   */
  readonly vip?: (appliances: ReadonlyMap<string, SimulatedAppliance>, name: string) => object;
  /** Leaves the collector vip off nevertheless. */
  readonly vipIsOff?: true;
  /** A server that replaces the simulated appliance. */
  readonly target?: { readonly url: string; readonly fingerprintSha256: string };
  /** Replaces the real clock. */
  readonly now?: () => number;
  /** Replaces the clock and the timers of what changes wait for. */
  readonly waits?: DaemonParts['waits'];
}

/**
 * Simulated appliances with the whole exporter on them, its gateway listening, and a token for each
 * role.
 */
export async function givenGateway(worlds: Readonly<Record<string, World>>, options: GivenOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'zlb-gateway-'));
  const appliances = new Map<string, SimulatedAppliance>();
  for (const [name, world] of Object.entries(worlds)) {
    // A user without any role, as docs/admin.md advises.
    world.groups.set('pollers', { name: 'pollers', role: {}, farms: ['*'], interfaces: ['*'] });
    world.users.set('poller', { name: 'poller', key: pollingKey, enabled: true, password: '', group: 'pollers' });
    appliances.set(
      name,
      await startSimulatedAppliance({ world, apiKey: adminKey, farmsListen: options.vip !== undefined }),
    );
  }
  const tokens = new Map(roles.map((role) => [role as string, makeToken()]));
  const probesFarms = options.vip !== undefined && !options.vipIsOff;
  const journalFile = options.admin?.journalFile ?? join(folder, 'audit', 'journal.db');
  const { admin, ...others } = await settingsOf({
    appliances: worldNames(worlds, options).map(({ name, target }) => ({
      ...applianceContent(name, target),
      ...(options.vip && { vip: options.vip(appliances, name) }),
    })),
    collectors: { vip: { enabled: probesFarms } },
    polling: { timeout: '30s', max_busy_ratio: 1, jitter: 0 },
    admin: {
      listen_address: '127.0.0.1:0',
      journal_file: journalFile,
      timeout: '10s',
      download_bytes: '64MiB',
      tokens: roles.map((role) => ({ name: role, sha256: tokens.get(role)?.sha256, role })),
    },
  });
  if (!admin) throw new Error('the gateway is part of the content');
  const settings: Settings = {
    ...others,
    appliances: others.appliances.map((appliance) =>
      pollingOnly(appliance, [...(options.polls ?? []), ...(probesFarms ? ['vip'] : [])]),
    ),
    admin: {
      ...admin,
      ...options.admin,
      approvals: { ...admin.approvals, ...options.approvals },
      journalFile,
      tokens: [
        ...admin.tokens,
        ...(options.tokens ?? []).map(({ token, ...rest }) =>
          givenEntry(token, { name: 'extra', person: 'extra', ...rest }),
        ),
        ...(options.admin?.tokens ?? []),
      ],
    },
  };
  const logged: string[] = [];
  const daemon = await startDaemon({
    settings,
    listenAddress: '127.0.0.1:0',
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    log: pino({ level: 'debug', base: null }, { write: (line: string) => void logged.push(line) }),
    now: options.now ?? Date.now,
    random: () => 0.5,
    waits: options.waits,
    ...noThreads,
  });
  const url = daemon.adminUrl ?? '';
  const pool = new Pool(url, { connect: { rejectUnauthorized: false } });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= pool.destroy().then(() => daemon.close()));
  onTestFinished(async () => {
    await close();
    await Promise.all([...appliances.values()].map((appliance) => appliance.close()));
    await rm(folder, { recursive: true, force: true });
  });

  function worldNames(named: Readonly<Record<string, World>>, { target }: GivenOptions) {
    if (target) return [{ name: 'lb-1', target }];
    return Object.keys(named).map((name) => ({ name, target: appliances.get(name)! }));
  }

  const call: CallGateway = async (method, path, { as = 'admin', json, body, type, headers = {} } = {}) => {
    const content = json === undefined ? body : JSON.stringify(json);
    const contentType = type ?? (json === undefined ? undefined : 'application/json');
    const answer = await pool.request({
      method,
      path,
      headers: {
        ...(as === 'none' ? {} : { authorization: `Bearer ${tokens.get(as)?.token ?? as}` }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const text = bytes.toString();
    return { status: answer.statusCode, headers: answer.headers, bytes, text, json: parsed(text) };
  };

  return {
    url,
    metricsUrl: daemon.url,
    call,
    appliances,
    /** The one appliance, or the first. */
    appliance: [...appliances.values()][0]!,
    tokenOf: (role: Role) => tokens.get(role)?.token ?? '',
    journalFile,
    /** All records of the journal as text, a line each. */
    auditText: async () => (await linesOf(journalFile)).join('\n'),
    /** The records of the journal, oldest first, without the one of the start. */
    audit: async () => {
      const records: readonly Record<string, unknown>[] = await recordsOf(journalFile);
      return records.filter(({ event }) => event !== 'started');
    },
    logged,
    metrics: async () => await (await fetch(`${daemon.url}/metrics`)).text(),
    /** Stops the exporter; its appliances and its files stay until the end of the test. */
    close,
  };
}

function applianceContent(name: string, target: { readonly url: string; readonly fingerprintSha256: string }): object {
  return {
    name,
    url: target.url,
    api_key: pollingKey,
    admin_api_key: adminKey,
    tls: { fingerprint_sha256: target.fingerprintSha256 },
  };
}

/** Switches off all collectors but these, which run at the start and at night. */
function pollingOnly(appliance: ApplianceSettings, polls: readonly string[]): ApplianceSettings {
  const collectors = Object.entries(appliance.collectors).map(([collector, defaults]) => [
    collector,
    { ...defaults, schedule: '0 0 3 * * *', enabled: polls.includes(collector) },
  ]);
  return { ...appliance, collectors: Object.fromEntries(collectors) as ApplianceSettings['collectors'] };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
