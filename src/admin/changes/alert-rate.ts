import { steadyNow } from '../../lib/time.ts';
import { AdminProblem } from '../policy/problem.ts';

/** Ten for each of a thousand appliances, every minute. */
export const alertsPerMinute = 10_000;
/** A body counts as one alert for so many bytes before it is parsed: that costs as well. */
export const bytesPerAlert = 400;
const minuteMs = 60_000;

/** Counts the alerts that a principal posts. */
export interface AlertRate {
  /** Counts a body that was received; throws an {@link AdminProblem} for too much of it. */
  received(principal: string, bytes: number): void;
  /** Counts the alerts of a body that are more than it was taken for; throws as `received` does. */
  taken(principal: string, alerts: number, bytes: number): void;
}

/** Creates a rate that gives each principal a minute's alerts at once, and then as time passes. */
export function createAlertRate(now = steadyNow): AlertRate {
  // By principal, so the configuration bounds its size.
  const rooms = new Map<string, { readonly left: number; readonly atMs: number }>();

  function count(principal: string, alerts: number): void {
    const atMs = now();
    const room = rooms.get(principal) ?? { left: alertsPerMinute, atMs };
    const regained = ((atMs - room.atMs) / minuteMs) * alertsPerMinute;
    const left = Math.min(alertsPerMinute, room.left + regained);
    rooms.set(principal, { left: alerts > left ? left : left - alerts, atMs });
    if (alerts > left) throw tooManyAlerts(principal, alerts - left);
  }

  return {
    received: (principal, bytes) => count(principal, bytes / bytesPerAlert),
    taken: (principal, alerts, bytes) => count(principal, Math.max(0, alerts - bytes / bytesPerAlert)),
  };
}

function tooManyAlerts(principal: string, missing: number): AdminProblem {
  const seconds = Math.ceil((missing / alertsPerMinute) * 60);
  return new AdminProblem('too_many_alerts', {
    detail: `${principal} posts more than ${alertsPerMinute} alerts a minute, where ${bytesPerAlert} bytes count as one; these were not taken.`,
    headers: { 'retry-after': String(seconds) },
  });
}
