import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import type { Shard } from '../lib/shard.ts';
import type { AdminSettings } from './admin-settings.ts';
import { type CollectorSettings, mergeCollectors } from './collectors.ts';
import type { Opened } from './open-files.ts';
import type { ApplianceFile, ConfigFile } from './schema.ts';

/** Everything an operator can decide, checked, in the program's own units. */
export interface Settings {
  readonly appliances: readonly ApplianceSettings[];
  readonly polling: PollingSettings;
  readonly limits: { readonly seriesPerAppliance: number; readonly bodyBytes: number };
  readonly admin?: AdminSettings;
  /** Where several processes share the appliances; without it, one watches all of them. */
  readonly share?: ShareSettings;
}

/** A shard, and the appliances of the other ones: the index of the shard that watches each, by name. */
export interface ShareSettings extends Shard {
  readonly elsewhere: ReadonlyMap<string, number>;
}

interface PollingSettings {
  readonly timeoutMs: number;
  readonly maxConcurrentPerAppliance: number;
  /** Shares of one. */
  readonly maxBusyRatio: number;
  readonly jitterRatio: number;
}

export interface ApplianceSettings {
  readonly name: string;
  /** With its port; the path is `/` when the client has to find the one the appliance answers on. */
  readonly url: URL;
  readonly apiKey: Secret;
  /** For the admin gateway alone; it uses the other one when there is none. */
  readonly adminApiKey?: Secret;
  readonly keyHeader: ApplianceFile['key_header'];
  readonly tls: TlsSettings;
  readonly labels: Readonly<Record<string, string>>;
  /** Patterns of whole names. */
  readonly farms: { readonly include: readonly RegExp[]; readonly exclude: readonly RegExp[] };
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  /** One entry for each collector that exists. */
  readonly collectors: Readonly<Record<string, CollectorSettings>>;
}

interface TlsSettings {
  /** PEM. */
  readonly ca?: string;
  readonly serverName?: string;
  /** 64 lower-case hex digits. */
  readonly fingerprintSha256?: string;
  readonly insecureSkipVerify: boolean;
}

/** The settings that a configuration without problems amounts to, but for `admin` and `share`; `opened` has the files of each appliance. */
export function toSettings(
  { appliances, collectors, polling, limits }: ConfigFile,
  opened: readonly Opened[],
  collectorDefaults: ReadonlyMap<string, CollectorSettings>,
): Omit<Settings, 'admin' | 'share'> {
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
