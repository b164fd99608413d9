import type { CollectorFile } from './schema.ts';
import type { Partly } from './structure.ts';

/** When a collector polls an appliance, and how long its readings are valid. */
export interface CollectorSettings {
  readonly enabled: boolean;
  /** A node-cron expression of six fields. */
  readonly schedule: string;
  readonly maxStaleMs: number;
}

type CollectorBlock = Readonly<Record<string, Partly<CollectorFile> | undefined>> | undefined;

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
    const written = { ...forAll?.[name], ...own?.[name] };
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
