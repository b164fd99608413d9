import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pino } from 'pino';
import { type Dispatcher, Pool } from 'undici';
import { onTestFinished } from 'vitest';
import { collectorDefaults } from '../../src/collectors/defaults.ts';
import { makeToken } from '../../src/commands/make-token.ts';
import type { AdminSettings, TokenSettings } from '../../src/config/admin-settings.ts';
import type { ApplianceSettings, Settings } from '../../src/config/settings.ts';
import { startDaemon } from '../../src/daemon.ts';
import { Secret } from '../../src/lib/secret.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../src/simulator/server.ts';
import type { World } from '../../src/simulator/world.ts';

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

/** What the appliance's polling key and its admin key are; both are planted to be looked for. */
export const pollingKey = 'CanaryPollingKey0123';
export const adminKey = 'CanaryAdminKey456789';

export interface GivenOptions {
  readonly tokens?: readonly (Partial<TokenSettings> & { readonly token: string })[];
  readonly admin?: Partial<AdminSettings>;
  /** Collectors that run, at the start and then once a day; none unless named. */
  readonly polls?: readonly string[];
  /** In place of a simulated appliance: whatever listens there. */
  readonly target?: { readonly url: string; readonly fingerprintSha256: string };
  /** In place of the real clock. */
  readonly now?: () => number;
}

/** Simulated appliances with the whole exporter on them, its gateway listening, and a token for each role. */
export async function givenGateway(worlds: Readonly<Record<string, World>>, options: GivenOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'zlb-gateway-'));
  const appliances = new Map<string, SimulatedAppliance>();
  for (const [name, world] of Object.entries(worlds)) {
    // A user without any role, as docs/admin.md advises.
    world.groups.set('pollers', { name: 'pollers', role: {}, farms: ['*'], interfaces: ['*'] });
    world.users.set('poller', { name: 'poller', key: pollingKey, enabled: true, password: '', group: 'pollers' });
    appliances.set(name, await startSimulatedAppliance({ world, apiKey: adminKey }));
  }
  const tokens = new Map(roles.map((role) => [role as string, makeToken()]));
  const auditFile = options.admin?.auditFile ?? join(folder, 'audit', 'audit.jsonl');
  const settings: Settings = {
    appliances: [...worldNames(worlds, options)].map(({ name, target }) => applianceSettings(name, target, options)),
    polling: { timeoutMs: 5_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 1, jitterRatio: 0 },
    limits: { seriesPerAppliance: 50_000, bodyBytes: 8 * 1_048_576 },
    admin: {
      listenAddress: '127.0.0.1:0',
      auditFileBytes: 64 * 1_048_576,
      timeoutMs: 10_000,
      uploadBytes: 16 * 1_048_576,
      downloadBytes: 64 * 1_048_576,
      maxConcurrentPerAppliance: 2,
      ...options.admin,
      auditFile,
      tokens: [
        ...roles.map((role) => tokenSettings(role, tokens.get(role)?.sha256 ?? '', role)),
        ...(options.tokens ?? []).map(({ token, ...rest }) => ({
          ...tokenSettings('extra', createHash('sha256').update(token).digest('hex'), 'admin'),
          ...rest,
        })),
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
    auditFile,
    /** The current file as it is. */
    auditText: async () => await readFile(auditFile, 'utf8').catch(() => ''),
    /** The lines of the audit, oldest first, without that of the start. */
    audit: async () => {
      const text = await readFile(auditFile, 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => event !== 'started');
    },
    logged,
    metrics: async () => await (await fetch(`${daemon.url}/metrics`)).text(),
    /** Stops the exporter; its appliances and its files stay until the end of the test. */
    close,
  };
}

function applianceSettings(
  name: string,
  target: { readonly url: string; readonly fingerprintSha256: string },
  { polls = [] }: GivenOptions,
): ApplianceSettings {
  return {
    name,
    url: new URL(target.url),
    apiKey: new Secret(pollingKey),
    adminApiKey: new Secret(adminKey),
    keyHeader: 'auto',
    tls: { fingerprintSha256: target.fingerprintSha256, insecureSkipVerify: false },
    labels: {},
    farms: { include: [/.*/], exclude: [] },
    compact: false,
    collectors: Object.fromEntries(
      [...collectorDefaults].map(([collector, defaults]) => [
        collector,
        { ...defaults, schedule: '0 0 3 * * *', enabled: polls.includes(collector) },
      ]),
    ),
  };
}

function tokenSettings(name: string, sha256: string, role: Role): TokenSettings {
  return { name, sha256, role, appliances: ['*'], deny: [], skipConfirmation: false, guards: 'refuse' };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
