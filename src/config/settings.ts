import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import type { AdminSettings } from './admin-settings.ts';
import type { Opened } from './open-files.ts';
import type { ApplianceFile, CollectorFile, ConfigFile } from './schema.ts';
import { type Shard, shardOf } from '../lib/shard.ts';

/** All checked settings of an operator, in the units of the program. */
export interface Settings {
  readonly appliances: readonly ApplianceSettings[];
  readonly polling: PollingSettings;
  readonly limits: { readonly seriesPerAppliance: number; readonly bodyBytes: number };
  readonly admin?: AdminSettings;
  /**
   * Set if several processes divide the appliances; without it, one process watches all of them.
   */
  readonly shard?: ShardSettings;
}

/** A shard, and for each appliance of the other shards the index of the shard that watches it. */
export interface ShardSettings extends Shard {
  readonly elsewhere: ReadonlyMap<string, number>;
}

interface PollingSettings {
  readonly timeoutMs: number;
  readonly maxConcurrentPerAppliance: number;
  /** The ratio from 0 to 1. */
  readonly maxBusyRatio: number;
  readonly jitterRatio: number;
}

export interface ApplianceSettings {
  readonly name: string;
  /** Includes the port; the path is `/` if the client has to find the base path. */
  readonly url: URL;
  readonly apiKey: Secret;
  /** Used by the admin gateway only; without it, the gateway uses `apiKey`. */
  readonly adminApiKey?: Secret;
  readonly keyHeader: ApplianceFile['key_header'];
  readonly tls: TlsSettings;
  readonly labels: Readonly<Record<string, string>>;
  /** Patterns that match whole names. */
  readonly farms: { readonly include: readonly RegExp[]; readonly exclude: readonly RegExp[] };
  readonly vip: VipSettings;
  /** True if backends that are up have no series of their own. */
  readonly compact: boolean;
  /** One entry for each collector that exists. */
  readonly collectors: Readonly<Record<string, CollectorSettings>>;
}

/** The addresses that the collector `vip` may connect to, and the names that it asks for. */
interface VipSettings {
  /** The names by farm. */
  readonly serverNames: Readonly<Record<string, readonly string[]>>;
  /** Addresses by `ADDRESS` or `ADDRESS:PORT`. */
  readonly connectTo: Readonly<Record<string, string>>;
  readonly networks: readonly string[];
}

interface TlsSettings {
  /** PEM. */
  readonly ca?: string;
  readonly serverName?: string;
  /** 64 lower-case hex digits. */
  readonly fingerprintSha256?: string;
  readonly insecureSkipVerify: boolean;
}

/**
 * Converts a configuration without problems to settings, except `admin` and `shard`; `opened` has
 * the files of each appliance.
 */
export function toSettings(
  { appliances, collectors, polling, limits }: ConfigFile,
  opened: readonly Opened[],
  collectorDefaults: ReadonlyMap<string, CollectorSettings>,
): Omit<Settings, 'admin' | 'shard'> {
  return {
    appliances: appliances.map((appliance, index) => {
      const { apiKey, adminApiKey, ca } = opened[index] ?? {};
      assert(apiKey, 'an appliance without a key is a problem');
      return {
        name: appliance.name,
        url: appliance.url,
        apiKey,
        ...(adminApiKey && { adminApiKey }),
        keyHeader: appliance.key_header,
        tls: toTls(appliance.tls, ca),
        labels: appliance.labels,
        farms: appliance.farms,
        vip: {
          serverNames: appliance.vip.server_names,
          connectTo: appliance.vip.connect_to,
          networks: appliance.vip.networks,
        },
        compact: appliance.compact ?? limits.compact,
        collectors: mergeCollectors(collectorDefaults, collectors, appliance.collectors),
      };
    }),
    polling: {
      timeoutMs: polling.timeout,
      maxConcurrentPerAppliance: polling.max_concurrent_per_appliance,
      maxBusyRatio: polling.max_busy_ratio,
      jitterRatio: polling.jitter,
    },
    limits: { seriesPerAppliance: limits.series_per_appliance, bodyBytes: limits.body_bytes },
  };
}

function toTls(tls: ApplianceFile['tls'], ca: string | undefined): TlsSettings {
  return {
    ...(ca !== undefined && { ca }),
    ...(tls.server_name !== undefined && { serverName: tls.server_name }),
    ...(tls.fingerprint_sha256 !== undefined && { fingerprintSha256: tls.fingerprint_sha256 }),
    insecureSkipVerify: tls.insecure_skip_verify,
  };
}

/**
 * Returns the settings of one shard: its own appliances, and the owners of the others. Without a
 * shard, returns all.
 */
export function settingsOfShard(settings: Settings, shard: Shard | undefined): Settings {
  if (!shard) return settings;
  const own: ApplianceSettings[] = [];
  const elsewhere = new Map<string, number>();
  for (const appliance of settings.appliances) {
    const owner = shardOf(appliance.name, shard.count);
    if (owner === shard.index) own.push(appliance);
    else elsewhere.set(appliance.name, owner);
  }
  return { ...settings, appliances: own, shard: { ...shard, elsewhere } };
}

/** Compares this many characters of a name: a pattern with two wildcards takes quadratic time. */
const maxCompared = 128;

/** Returns true for a farm that `farms.include` matches and `farms.exclude` does not. */
export function watchesFarm({ farms }: Pick<ApplianceSettings, 'farms'>, farm: string): boolean {
  const name = farm.slice(0, maxCompared);
  return farms.include.some((pattern) => pattern.test(name)) && !farms.exclude.some((pattern) => pattern.test(name));
}

/** When a collector polls an appliance, and how long its readings are valid. */
export interface CollectorSettings {
  readonly enabled: boolean;
  /** A node-cron expression of six fields. */
  readonly schedule: string;
  readonly maxStaleMs: number;
}

type CollectorBlock = Readonly<Record<string, CollectorFile>>;

/**
 * Returns the settings of every collector: the appliance's own win, then the general ones, key by
 * key.
 */
export function mergeCollectors(
  defaults: ReadonlyMap<string, CollectorSettings>,
  forAll: CollectorBlock,
  own: CollectorBlock,
): Record<string, CollectorSettings> {
  const merged = [...defaults].map(([name, otherwise]) => {
    const written = { ...forAll[name], ...own[name] };
    return [
      name,
      {
        enabled: written.enabled ?? otherwise.enabled,
        schedule: written.schedule ?? otherwise.schedule,
        maxStaleMs: written.max_stale ?? otherwise.maxStaleMs,
      },
    ] as const;
  });
  return Object.fromEntries(merged);
}
