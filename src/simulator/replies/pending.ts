import type { HttpFarm } from '../world-farms.ts';

/** Notes a change that waits for a restart, and says so if the farm runs. */
export function pending(farm: HttpFarm): { readonly status?: string } {
  if (!farm.running) return {};
  farm.needsRestart = true;
  return { status: 'needed restart' };
}
