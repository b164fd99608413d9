import type { Risk } from '../../appliance/api/row.ts';
import { risksOf } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminCall } from './admin-call.ts';

/**
 * How a call goes on: it is `sent`, `waits` for approval, or is sent without the approval that it
 * needs (`break_glass`).
 */
export type Approval = 'sent' | 'waits' | 'break_glass';

/** Decides how a call goes on. Returns the problem of one that can neither be sent nor wait. */
export function approvalOf(
  { requiredFor }: { readonly requiredFor: readonly Risk[] },
  { principal, breakGlass, plan, call }: Pick<AdminCall, 'principal' | 'breakGlass' | 'plan' | 'call'>,
): Approval | AdminProblem {
  if (plan?.isApproved || !risksOf(call).some((risk) => requiredFor.includes(risk))) return 'sent';
  if (breakGlass && principal.breakGlass) return 'break_glass';
  const { key, row } = call.operation;
  if (breakGlass) {
    return new AdminProblem('break_glass_denied', {
      detail: `${key} needs approval, and the token of ${principal.name} has no break_glass; nothing was sent.`,
    });
  }
  const cannotWait = row.body === 'gzip' ? 'a file is not kept until then' : row.acts && 'nobody would get its answer';
  if (cannotWait !== undefined) {
    return new AdminProblem('cannot_wait', { detail: `${key} needs approval, and ${cannotWait}; nothing was sent.` });
  }
  return 'waits';
}
