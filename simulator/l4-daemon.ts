import type { Reply } from './call.ts';
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

/** Lets a hung daemon go on: what waited for it ends, and farms that waited for it start. */
export function resumeL4Daemon({ l4Daemon, farms }: World): void {
  l4Daemon.state = 'running';
  l4Daemon.leftProcesses = 0;
  for (const name of l4Daemon.startsLater) {
    const farm = farms.get(name);
    if (farm) farm.running = true;
  }
  l4Daemon.startsLater.clear();
}

/** Starts the daemon, as systemd does after a crash: it deletes the rules of all L4 farms. */
export function startL4Daemon(world: World): void {
  resumeL4Daemon(world);
  for (const farm of l4Farms(world)) Object.assign(farm, { hasNoRules: true, lostPid: false });
}

/** Loads the rules of a farm that is started; starts the daemon for it. */
export function loadRules(world: World, farm: Farm): void {
  if (farm.profile !== 'l4xnat') return;
  if (world.l4Daemon.state === 'dead') startL4Daemon(world);
  Object.assign(farm, { hasNoRules: false, lostPid: false });
}

/**
 * Does what a start, a stop, a creation or a deletion of an HTTP farm does with zproxy, which has a
 * rule in the daemon for each: it starts a dead daemon, and waits for a hung one. Returns the
 * answer of a call that waits, undefined for any other. Creation and deletion were read in the
 * source, and not seen.
 */
export function touchL4Daemon(world: World, farm: Farm, isStart: boolean): Reply | undefined {
  if (farm.profile !== 'http' || world.proxy !== 'zproxy') return undefined;
  if (world.l4Daemon.state === 'dead') startL4Daemon(world);
  if (world.l4Daemon.state !== 'hung') return undefined;
  farm.running = false;
  world.l4Daemon.leftProcesses += 1;
  if (isStart) world.l4Daemon.startsLater.add(farm.name);
  return { kind: 'page', status: 504, afterMs: 61_000 };
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
