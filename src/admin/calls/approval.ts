import type { Risk } from '../../appliance/api/row.ts';
import type { OperationCall } from '../policy/operation.ts';
import { risksOf } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminAnswer, AdminRequest, PermittedCall } from './request.ts';

/** Which calls need a second person, and what happens to them instead. */
export interface Approvals {
  readonly requiredFor: readonly Risk[];
  /**
   * Makes a change of a call, whose body is never a file. Rejects with an
   * {@link AdminProblem}.
   */
  askInstead(waiting: PermittedCall): Promise<AdminAnswer>;
}

/**
 * Decides how a call goes on: `sent`, `waits` for approval, or `break_glass` if it is sent without
 * the approval that it needs. Returns the problem of a call that can be neither.
 */
export function approvalOf(
  { requiredFor }: Pick<Approvals, 'requiredFor'>,
  { principal, breakGlass, approved }: Pick<AdminRequest, 'principal' | 'breakGlass' | 'approved'>,
  call: OperationCall,
): 'sent' | 'waits' | 'break_glass' | AdminProblem {
  if (approved || !risksOf(call).some((risk) => requiredFor.includes(risk))) return 'sent';
  if (breakGlass && principal.breakGlass) return 'break_glass';
  const { key, row } = call.operation;
  if (breakGlass) {
    return new AdminProblem('break_glass_denied', {
      detail: `${key} needs approval, and the token of ${principal.name} has no break_glass; nothing was sent.`,
      remedy: 'Leave X-Break-Glass out to ask for approval, or use a token with break_glass: true.',
    });
  }
  const cannotWait = row.body === 'gzip' ? 'a file is not kept until then' : row.acts && 'nobody would get its answer';
  if (cannotWait !== undefined) {
    return new AdminProblem('cannot_wait', {
      detail: `${key} needs approval, and ${cannotWait}; nothing was sent.`,
      remedy: 'Use a token with break_glass: true and X-Break-Glass: true, or the web interface of the appliance.',
    });
  }
  return 'waits';
}
