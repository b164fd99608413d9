import type { Risk } from '../../appliance/api/row.ts';
import { decodePercent } from '../../lib/text.ts';
import type { OperationCall } from '../policy/operation.ts';
import { risksOf } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminCall } from './admin-call.ts';

/**
 * Returns the accepted values of X-Confirm, none if nothing must be confirmed: the object in the
 * path, or the appliance if the path names none. People are asked for the first; the last part of
 * the path is also accepted, such as `factory`.
 */
export function confirmationOf({ operation, path }: OperationCall, appliance: string): readonly string[] {
  if (operation.row.risk !== 'destructive') return [];
  const last = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return operation.template.includes('{') ? [last] : [appliance, last];
}

/**
 * Returns true if the header has an expected value, plain or percent-encoded: a header cannot
 * contain every name.
 */
export function isConfirmed(given: string | undefined, expected: readonly string[]): boolean {
  return given !== undefined && (expected.includes(given) || expected.includes(decodePercent(given) ?? given));
}

/** Throws an {@link AdminProblem} for a call that has to be confirmed, and was not. */
export function assertConfirmed({ confirm: given, permit, principal, appliance, target }: AdminCall): void {
  // Somebody has seen the plan, which names the object.
  if (permit) return;
  const expected = confirmationOf(target, appliance);
  const [name] = expected;
  if (name === undefined || principal.skipConfirmation || isConfirmed(given, expected)) return;
  const because = given === undefined ? 'was not confirmed' : 'X-Confirm names something else';
  throw new AdminProblem(given === undefined ? 'confirmation_required' : 'confirmation_mismatch', {
    detail: `${target.operation.operationId} cannot be undone, and ${because}; nothing was sent.`,
    remedyValue: name,
    members: { expected },
  });
}

/**
 * Whether a call may be sent: it is `cleared`, it `needs_approval` first, or it may be sent without
 * the approval that it needs (`break_glass`).
 */
export type Clearance = 'cleared' | 'needs_approval' | 'break_glass';

/**
 * Decides whether a call may be sent. Returns the problem of one that can neither be sent nor wait.
 */
export function clearanceOf(
  { requiredFor }: { readonly requiredFor: readonly Risk[] },
  { principal, breakGlass, permit, target }: Pick<AdminCall, 'principal' | 'breakGlass' | 'permit' | 'target'>,
): Clearance | AdminProblem {
  if (permit?.isApproved || permit?.isRollback || !risksOf(target).some((risk) => requiredFor.includes(risk)))
    return 'cleared';
  if (breakGlass && principal.breakGlass) return 'break_glass';
  const { operationId, row } = target.operation;
  if (breakGlass) {
    return new AdminProblem('break_glass_denied', {
      detail: `${operationId} needs approval, and the token of ${principal.name} has no break_glass; nothing was sent.`,
    });
  }
  const cannotWait =
    row.body === 'gzip' ? 'a file is not kept until then' : row.readSideEffect && 'nobody would get its answer';
  if (cannotWait !== undefined) {
    return new AdminProblem('cannot_wait', {
      detail: `${operationId} needs approval, and ${cannotWait}; nothing was sent.`,
    });
  }
  return 'needs_approval';
}
