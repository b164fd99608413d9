import type { Farm, L4Farm } from './world-farms.ts';
import type { World } from './world.ts';

/** Kills the daemon, as a crash does. Without its pid file, L4 farms say `down`, and serve on. */
export function killL4Daemon(world: World, { pidFileStays }: { readonly pidFileStays: boolean }): void {
  world.l4Daemon.state = 'dead';
  for (const farm of l4Farms(world)) farm.lostPid = !pidFileStays;
}

/** Stops the daemon without ending it; the rules of the kernel stay. */
export function hangL4Daemon(world: World): void {
  world.l4Daemon.state = 'hung';
}

/** Starts the daemon, as systemd does after a crash: it deletes the rules of all L4 farms. */
export function startL4Daemon(world: World): void {
  world.l4Daemon.state = 'running';
  for (const farm of l4Farms(world)) Object.assign(farm, { hasNoRules: true, lostPid: false });
}

/** Loads the rules of a farm that is started; starts the daemon for it. */
export function loadRules(world: World, farm: Farm): void {
  if (farm.profile !== 'l4xnat') return;
  if (world.l4Daemon.state === 'dead') startL4Daemon(world);
  Object.assign(farm, { hasNoRules: false, lostPid: false });
}

const detail = /^GET \/farms\/\{farmname\}(?:\/summary)?$/;
const statistics = /^GET \/stats\/farms\/\{farmname\}(?:\/backends)?$/;

/** Starts the daemon and each farm that runs, as an administrator does after an outage. */
export function restoreL4Farms(world: World): void {
  startL4Daemon(world);
  for (const farm of l4Farms(world)) loadRules(world, farm);
}

/** Does what a read of a farm does beside its answer. Returns true if it is never answered. */
export function actOnL4Daemon(world: World, route: string, path: string): boolean {
  const asked = path.split('/').flatMap((segment) => world.farms.get(decodeURIComponent(segment)) ?? [])[0];
  if (asked?.profile !== 'l4xnat' || asked.persistence === '') return false;
  const isDetail = detail.test(route);
  // The statistics ask only for a farm that the pid files call up.
  if (!isDetail && !(statistics.test(route) && asked.running && !asked.lostPid)) return false;
  if (world.l4Daemon.state === 'hung') {
    world.l4Daemon.leftProcesses += 1;
    return true;
  }
  if (world.l4Daemon.state === 'dead') {
    const wasDown = asked.lostPid === true;
    startL4Daemon(world);
    if (isDetail && wasDown) asked.hasNoRules = false;
  }
  return false;
}

function l4Farms({ farms }: World): readonly L4Farm[] {
  return [...farms.values()].filter((farm) => farm.profile === 'l4xnat');
}
