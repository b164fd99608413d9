import type { Validity } from '../appliance/connection.ts';

const daySeconds = 86_400;

/**
 * Thresholds of alerts that the status page, `check` and the dashboards also use. The rules in
 * `alerts/` have them as literals; a test compares the two.
 */
export const alertThresholds = {
  /** A certificate or licence is due below both `expirySoon…`, and urgent below both `expiryImminent…`. */
  expirySoonSeconds: 28 * daySeconds,
  expirySoonRatio: 0.25,
  expiryImminentSeconds: 3 * daySeconds,
  expiryImminentRatio: 0.1,
  clockOffsetSeconds: 60,
  /** A certificate or token of the exporter itself is due below this. */
  credentialSeconds: 14 * daySeconds,
  /** Ratio of a service's backends, without those in maintenance. */
  farmBackendsUpRatio: 0.75,
  /** An object with more outages within three hours is flapping. */
  outagesPer3h: 2,
  /** A farm has too many half-open connections above both: their number, and their ratio to the others. */
  pendingConnections: 100,
  pendingConnectionsRatio: 0.5,
  cpuBusyRatio: 0.9,
  memoryUsedRatio: 0.9,
  backupAgeSeconds: 30 * daySeconds,
  /** Intervals of a collector, as they are in effect. */
  collectorStaleIntervals: 3,
  adminDeniedPer15m: 10,
} as const;

/** Returns the ratio of its life that is left to a certificate or licence; undefined without a beginning. */
export function lifeLeft({ notBeforeSeconds, notAfterSeconds }: Validity, nowMs: number): number | undefined {
  if (notBeforeSeconds === undefined || notBeforeSeconds >= notAfterSeconds) return undefined;
  const left = (notAfterSeconds - nowMs / 1_000) / (notAfterSeconds - notBeforeSeconds);
  return Math.min(1, Math.max(0, left));
}

/** Returns how urgent a renewal is: `imminent` also after the end. */
export function expiryWindow(validity: Validity, nowMs: number): 'soon' | 'imminent' | undefined {
  const leftSeconds = validity.notAfterSeconds - nowMs / 1_000;
  // Without a ratio, only the days decide.
  const ratio = lifeLeft(validity, nowMs) ?? 0;
  const { expirySoonSeconds, expirySoonRatio, expiryImminentSeconds, expiryImminentRatio } = alertThresholds;
  if (leftSeconds < expiryImminentSeconds && ratio < expiryImminentRatio) return 'imminent';
  return leftSeconds < expirySoonSeconds && ratio < expirySoonRatio ? 'soon' : undefined;
}
