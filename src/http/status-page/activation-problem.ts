import type { ApplianceStatus } from '../../monitor/status.ts';
import type { Problem } from './problem.ts';
import { span } from './times.ts';

const dayMs = 86_400_000;
/**
 * As zlb:threshold{name="activation_expiry_soon_seconds"} and "activation_expiry_imminent_seconds".
 */
const soonMs = 30 * dayMs;
const imminentMs = 7 * dayMs;

/**
 * Returns the problem of an appliance's activation. When a permanent one ends, only its support
 * ends.
 */
export function activationProblem(status: ApplianceStatus, nowMs: number): Problem | undefined {
  const { name: appliance, activation, deactivated } = status;
  const about = { appliance, sinceMs: undefined };
  if (deactivated || activation?.status === 'deactivated') {
    return {
      ...about,
      level: 'critical',
      title: `${appliance} is deactivated`,
      meaning: 'Its API refuses nearly everything, so nothing else is known of it. Farms usually go on working.',
      alert: 'ZlbApplianceDeactivated',
    };
  }
  if (activation?.notAfterSeconds === undefined) return undefined;
  const endsAtMs = activation.notAfterSeconds * 1_000;
  const leftMs = endsAtMs - nowMs;
  if (activation.kind === 'permanent') {
    if (leftMs > 0) return undefined;
    return {
      appliance,
      sinceMs: endsAtMs,
      level: 'warning',
      title: `The support of ${appliance} has ended`,
      meaning: 'It goes on working, without updates.',
      alert: 'ZlbSupportEnded',
    };
  }
  if (leftMs >= soonMs) return undefined;
  return {
    ...about,
    level: leftMs < imminentMs ? 'critical' : 'warning',
    title: leftMs > 0 ? `The licence of ${appliance} ends in ${span(leftMs)}` : `The licence of ${appliance} has ended`,
    meaning: 'At its end it deactivates itself: its API and its web interface refuse nearly everything.',
    alert: leftMs < imminentMs ? 'ZlbActivationExpiryImminent' : 'ZlbActivationExpirySoon',
  };
}
