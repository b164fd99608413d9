import { createHash } from 'node:crypto';

/** One of several processes that divide the appliances of a configuration. */
export interface Shard {
  /** Counted from 0, as Kubernetes counts the pods of a StatefulSet. */
  readonly index: number;
  readonly count: number;
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
