import type { BackendStatus, Farm } from './world-farms.ts';

/** A word of docs/api.md §2.1, or the number that stands for a run state the appliance cannot tell. */
export type FarmStatus = 'down' | 'needed restart' | 'critical' | 'problem' | 'maintenance' | 'up' | -1;

/** Derives the status word in the order of docs/api.md §2.1; the backends of all services count together. */
export function farmStatus(farm: Farm): FarmStatus {
  if (farm.runState === 'unreadable') return -1;
  if (!farm.running) return 'down';
  if (farm.needsRestart) return 'needed restart';
  const words = allBackends(farm).map((backend) => shownStatus(backend.status));
  const serves = words.includes('up') || hasRedirect(farm);
  if (!serves) return 'critical';
  if (words.includes('down')) return 'problem';
  return words.includes('maintenance') ? 'maintenance' : 'up';
}

/** The word printed for a backend outside GSLB: an unknown state is `up` (docs/api.md §2.2). */
export function shownStatus(status: BackendStatus): BackendStatus {
  return status === 'undefined' ? 'up' : status;
}

/** The profile as lists print it; summaries say `http` for HTTPS farms as well (docs/api.md §3.8). */
export function listedProfile(farm: Farm): string {
  return farm.profile === 'http' ? farm.listener : farm.profile;
}

/** Every backend of a farm, those of all its services together. */
export function allBackends(
  farm: Farm,
): readonly { status: BackendStatus; established: number; pending: number; ip: string }[] {
  return 'services' in farm
    ? farm.services.flatMap((service): BackendOf<typeof farm>[] => service.backends)
    : farm.backends;
}

type BackendOf<F extends Extract<Farm, { services: unknown }>> = F['services'][number]['backends'][number];

function hasRedirect(farm: Farm): boolean {
  return farm.profile === 'http' && farm.services.some((service) => service.redirect !== '');
}

const profileOrder = ['http', 'eproxy', 'datalink', 'l4xnat', 'gslb'];

/** Farms as the appliance lists them: by kind, then by name (docs/api.md §3.5). */
export function inListOrder(farms: Iterable<Farm>): readonly Farm[] {
  return [...farms].sort(
    (a, b) => profileOrder.indexOf(a.profile) - profileOrder.indexOf(b.profile) || (a.name < b.name ? -1 : 1),
  );
}
