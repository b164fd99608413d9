import { createHash } from 'node:crypto';

/** One of the processes that share the appliances of a configuration among them. */
export interface Shard {
  /** Counted from 0, as Kubernetes counts the pods of a StatefulSet. */
  readonly index: number;
  readonly count: number;
}

/** More processes than anybody runs, and few enough that a name is found at once. */
const mostShards = 1_000;

/** `0/3` to `2/3`; undefined when the text is no such shard. */
export function parseShard(text: string): Shard | undefined {
  const match = /^(\d{1,4})\/(\d{1,4})$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  return match && index < count && count <= mostShards ? { index, count } : undefined;
}

/**
 * The index of the shard that watches an appliance, by its name alone and for ever the same: the shard whose hash with the name is
 * the highest (rendezvous hashing). One shard more takes its share from all others, and nothing moves between those.
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
