import { createHash } from 'node:crypto';
import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import { globMatcher } from '../lib/text.ts';
import type { AdminBlock } from './admin-schema.ts';
import type { ConfigSettings } from './schema.ts';

type WrittenAppliance = ConfigSettings['appliances'][number];

/** All checked settings of an operator, in the units of the program. */
export interface Settings extends Omit<ConfigSettings, 'applianceFiles' | 'collectors' | 'limits' | 'admin'> {
  readonly appliances: readonly ApplianceSettings[];
  readonly limits: Omit<ConfigSettings['limits'], 'compact'>;
  readonly admin?: AdminSettings;
  /**
   * Set if several processes divide the appliances; without it, one process watches all of them.
   */
  readonly shard?: ShardSettings;
}

/** One of several processes that divide the appliances of a configuration. */
export interface Shard {
  /** Counted from 0, as Kubernetes counts the pods of a StatefulSet. */
  readonly index: number;
  readonly count: number;
}

/** A shard, and for each appliance of the other shards the index of the shard that watches it. */
export interface ShardSettings extends Shard {
  readonly otherShards: ReadonlyMap<string, number>;
}

/**
 * The settings of an appliance. The path of `url` is `/` if the client has to find the base path;
 * the gateway uses `adminApiKey` if there is one.
 */
export interface ApplianceSettings extends Omit<WrittenAppliance, 'apiKey' | 'compact' | 'collectors' | 'vip'> {
  readonly apiKey: Secret;
  /** True if backends that are up have no series of their own. */
  readonly compact: boolean;
  /** `l4Only` unless the configuration enables or disables the collector `vip`. */
  readonly vip: WrittenAppliance['vip'] & { readonly l4Only: boolean };
  readonly collectors: Readonly<Record<string, CollectorSettings>>;
}

export interface CollectorSettings {
  readonly enabled: boolean;
  /** A node-cron expression of six fields. */
  readonly schedule: string;
  readonly maxStaleMs: number;
}

/** Returns the settings of an appliance, with what the configuration says for all of them. */
export function applianceSettings(
  own: WrittenAppliance,
  { collectors, limits }: Pick<ConfigSettings, 'collectors' | 'limits'>,
  defaults: ReadonlyMap<string, CollectorSettings>,
): ApplianceSettings {
  const { apiKey } = own;
  const isProbed = own.collectors.vip?.enabled ?? collectors.vip?.enabled;
  assert(apiKey, 'an appliance without a key is a problem');
  return {
    ...own,
    apiKey,
    compact: own.compact ?? limits.compact,
    collectors: mergeCollectorSettings(defaults, collectors, own.collectors),
    vip: { ...own.vip, l4Only: isProbed === undefined },
  };
}

/**
 * Returns the settings of every collector: the appliance's own win, then the general ones, key by
 * key.
 */
export function mergeCollectorSettings(
  defaults: ReadonlyMap<string, CollectorSettings>,
  forAll: ConfigSettings['collectors'],
  own: ConfigSettings['collectors'],
): Record<string, CollectorSettings> {
  return Object.fromEntries(
    [...defaults].map(([name, otherwise]) => [name, { ...otherwise, ...forAll[name], ...own[name] }]),
  );
}

/** More processes than anybody runs, and few enough that `shardOf` is fast. */
export const maxShards = 1_000;

/** Parses `0/3` to `2/3`; undefined for any other text. */
export function parseShard(text: string): Shard | undefined {
  const match = /^(\d{1,4})\/(\d{1,4})$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  return match && index < count && count <= maxShards ? { index, count } : undefined;
}

/**
 * Returns the index of the shard that watches an appliance. It depends only on the name: the shard
 * with the highest hash of index and name (rendezvous hashing). An added shard takes appliances
 * from all others, and none moves between those.
 */
export function shardOf(name: string, count: number): number {
  let owner = 0;
  let highest = '';
  for (let index = 0; index < count; index += 1) {
    const weight = createHash('sha256').update(`${index}/${name}`).digest('hex');
    if (weight > highest) [owner, highest] = [index, weight];
  }
  return owner;
}

/**
 * Returns the settings of one shard: its own appliances, and the owners of the others. Twins have
 * one owner, that of the first. Without a shard, returns all.
 */
export function settingsOfShard(settings: Settings, shard: Shard | undefined): Settings {
  if (!shard) return settings;
  const own: ApplianceSettings[] = [];
  const otherShards = new Map<string, number>();
  const firsts = new Map(settings.twins.flatMap(([first = '', twin = '']) => [[twin, first]]));
  for (const appliance of settings.appliances) {
    const owner = shardOf(firsts.get(appliance.name) ?? appliance.name, shard.count);
    if (owner === shard.index) own.push(appliance);
    else otherShards.set(appliance.name, owner);
  }
  const twins = settings.twins.filter(([first = '']) => !otherShards.has(first));
  return { ...settings, appliances: own, twins, shard: { ...shard, otherShards } };
}

/** Compares this many characters of a name, since an appliance may report very long ones. */
const maxCompared = 128;

/** Returns true for a farm that `farms.include` matches and `farms.exclude` does not. */
export function watchesFarm({ farms }: Pick<ApplianceSettings, 'farms'>, farm: string): boolean {
  const name = farm.slice(0, maxCompared);
  return farms.include.some((pattern) => pattern.test(name)) && !farms.exclude.some((pattern) => pattern.test(name));
}

/** Returns the networks from which an appliance sends its log; a name is not a network. */
export function sendersOf({ url, requests: { from } }: Pick<ApplianceSettings, 'url' | 'requests'>): readonly string[] {
  return from.length > 0 ? from : [url.hostname.replaceAll(/[[\]]/g, '')];
}

/**
 * Returns the farms with an objective, and whether it is also one of latency; undefined for an
 * appliance that sends no log. If no appliance names senders or objectives, all are assumed to
 * send one.
 */
export function objectivesOf(
  { requests, appliances }: Pick<Settings, 'requests' | 'appliances'>,
  { requests: own }: Pick<ApplianceSettings, 'requests'>,
): readonly { readonly farm: string; readonly hasLatency: boolean }[] | undefined {
  const isNamed = ({ from, objectives }: ApplianceSettings['requests']) => from.length + objectives.length > 0;
  if (!requests || (!isNamed(own) && appliances.some((each) => isNamed(each.requests)))) return undefined;
  return own.objectives.map(({ farm, latency }) => ({ farm, hasLatency: latency !== undefined }));
}

/** The checked settings of the admin gateway; without them it does not listen. */
export interface AdminSettings extends Omit<AdminBlock, 'tokens' | 'insecurePlaintext'> {
  readonly tokens: readonly TokenSettings[];
}

export type ApprovalSettings = AdminBlock['approvals'];

/** A token; `allow` and `deny` are keys of operations, `appliances` are globs. */
export interface TokenSettings extends Omit<AdminBlock['tokens'][number], 'person'> {
  /** The holder of the token. */
  readonly person: string;
}

/** The operations of the API by key, with their routes: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/** Returns the settings of the gateway, with the operations that its tokens may call. */
export function adminSettings(block: AdminBlock, operations: OperationRoutes): AdminSettings {
  const { tokens, insecurePlaintext: _onlyChecked, ...admin } = block;
  const keysOf = (entries: readonly string[]) => [
    ...new Set(entries.flatMap((entry) => matchOperations(entry, operations))),
  ];
  return {
    ...admin,
    tokens: tokens.map(({ allow, deny, ...token }) => ({
      ...token,
      ...(allow && { allow: keysOf(allow) }),
      deny: keysOf(deny),
      person: token.person ?? token.name,
    })),
  };
}

/**
 * Returns the keys that an entry of `allow` or `deny` matches: a key, a route, or a pattern with
 * `*` over both.
 */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const fits = globMatcher(entry);
  return [...operations].filter(([key, route]) => fits(key) || fits(route)).map(([key]) => key);
}
