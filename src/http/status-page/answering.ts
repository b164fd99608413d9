import type { ApplianceStatus } from '../../monitor/status.ts';

/** Stricter than `zlb_up`, which stays for as long as what an appliance said last is shown: calls to it go through. */
export function isAnswering({ up, breaker }: Pick<ApplianceStatus, 'up' | 'breaker'>): boolean {
  return up === true && breaker === 'closed';
}
