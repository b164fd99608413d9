import { percentDecoded } from '../../lib/text.ts';
import type { OperationCall } from '../policy/operation.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { AdminCall } from './admin-call.ts';

/**
 * Returns the accepted values of X-Confirm, none if nothing must be confirmed: the object in the
 * path, or the appliance if the path names none.
 */
export function confirmationOf({ operation, path }: OperationCall, appliance: string): readonly string[] {
  if (operation.row.risk !== 'destructive') return [];
  const object = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return operation.template.includes('{') ? [object] : [object, appliance];
}

/**
 * Returns true if the header has an expected value, plain or percent-encoded: a header cannot
 * contain every name.
 */
export function isConfirmed(given: string | undefined, expected: readonly string[]): boolean {
  return given !== undefined && (expected.includes(given) || expected.includes(percentDecoded(given) ?? given));
}

/** Throws an {@link AdminProblem} for a call that must be confirmed and is not. */
export function confirm({ confirm: given, plan, principal, appliance, call }: AdminCall): void {
  // Somebody has looked at the plan, which names the object.
  if (plan) return;
  const expected = confirmationOf(call, appliance);
  const [name] = expected;
  if (name === undefined || principal.skipConfirmation || isConfirmed(given, expected)) return;
  const because = given === undefined ? 'was not confirmed' : 'X-Confirm names something else';
  throw new AdminProblem(given === undefined ? 'confirmation_required' : 'confirmation_mismatch', {
    detail: `${call.operation.key} cannot be undone, and ${because}; nothing was sent.`,
    refused: name,
    members: { expected },
  });
}
