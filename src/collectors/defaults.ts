import { collectors } from './registry.ts';

/** What each collector does unless the configuration says otherwise, by name. */
export const collectorDefaults: ReadonlyMap<string, { schedule: string; maxStaleMs: number; enabled: boolean }> =
  new Map(collectors.map(({ name, schedule, maxStaleMs, enabled }) => [name, { schedule, maxStaleMs, enabled }]));
