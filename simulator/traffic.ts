import type { BackendState } from './world-farms.ts';
import type { NetworkInterface, World } from './world.ts';

/**
 * Returns the MiB that an interface has received and sent: a steady rate and a slow wave whose
 * slope is never negative. Counters only grow, until a reboot sets them to zero.
 */
export function interfaceTraffic(
  world: World,
  { traffic, name }: NetworkInterface,
  nowMs: number,
): { in: number; out: number } | undefined {
  if (!traffic) return undefined;
  world.countingSinceMs ??= nowMs;
  const seconds = Math.max(0, nowMs - world.countingSinceMs) / 1_000;
  const grown = seconds + (world.moving ? 0.5 * waveIntegral(seconds, 300, phaseOf(name)) : 0);
  return {
    in: traffic.received + traffic.receivedPerSecond * grown,
    out: traffic.sent + traffic.sentPerSecond * grown,
  };
}

/**
 * Returns a figure that changes by up to a third around its base while the world moves. `key` sets
 * the phase.
 */
export function wandering(world: World, key: string, base: number, nowMs: number): number {
  if (!world.moving || base === 0) return base;
  const wave =
    Math.sin((2 * Math.PI * nowMs) / 240_000 + phaseOf(key)) +
    0.4 * Math.sin((2 * Math.PI * nowMs) / 37_000 + 2 * phaseOf(key));
  return Math.max(0, base * (1 + 0.25 * wave));
}

interface Carrying {
  readonly ip: string;
  readonly status: BackendState;
  readonly established: number;
  readonly pending: number;
  /** Milliseconds at the first read in maintenance. */
  drainingSinceMs?: number | undefined;
}

/** Time until the last connection of a backend in maintenance ends. */
const drainMs = 25_000;

/**
 * Returns the connections of a backend. In maintenance they end one by one while the world moves.
 */
export function backendConnections(
  world: World,
  farm: string,
  backend: Carrying,
  nowMs: number,
): { established: number; pending: number } {
  const drains = world.moving && backend.status === 'maintenance';
  backend.drainingSinceMs = drains ? (backend.drainingSinceMs ?? nowMs) : undefined;
  const left = Math.max(0, 1 - (nowMs - (backend.drainingSinceMs ?? nowMs)) / drainMs);
  const count = (field: 'established' | 'pending') =>
    Math.round(left * wandering(world, `${farm}${backend.ip}${field}`, backend[field], nowMs));
  return { established: count('established'), pending: count('pending') };
}

// The integral of a cosine from 0: growth that is faster and slower around the steady rate.
function waveIntegral(seconds: number, period: number, phase: number): number {
  const turn = (2 * Math.PI) / period;
  return (Math.sin(turn * seconds + phase) - Math.sin(phase)) / turn;
}

function phaseOf(key: string): number {
  let hash = 7;
  for (const char of key) hash = (hash * 31 + char.charCodeAt(0)) % 6_283;
  return hash / 1_000;
}
