import { type Shard, shardOf } from '../lib/shard.ts';
import type { ApplianceSettings, Settings } from './settings.ts';

/** The settings of one shard: its own appliances, and of the others who watches them. Without a shard, all of them. */
export function shareOf(settings: Settings, shard: Shard | undefined): Settings {
  if (!shard) return settings;
  const own: ApplianceSettings[] = [];
  const elsewhere = new Map<string, number>();
  for (const appliance of settings.appliances) {
    const owner = shardOf(appliance.name, shard.count);
    if (owner === shard.index) own.push(appliance);
    else elsewhere.set(appliance.name, owner);
  }
  return { ...settings, appliances: own, share: { ...shard, elsewhere } };
}
