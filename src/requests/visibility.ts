import { may } from '../gateway/policy.ts';
import type { Principal } from '../gateway/principal.ts';
import type { ChangeRequest, PlannedStep } from './change-request.ts';
import type { Core } from './core.ts';
import { unknownRequest } from './refusals.ts';
import type { Entry } from './request-book.ts';

/** Returns true for its requester, and for a token that may do the same. */
export function maySee({ operations }: Core, principal: Principal, request: ChangeRequest): boolean {
  if (!principal.covers(request.appliance)) return false;
  if (principal.name === request.requested_by) return true;
  return request.plan.steps.every(({ call }) => {
    const operation = call && operations.named(call.operation);
    return !operation || may(principal, operation.key, operation.row).allowed;
  });
}

/** Leaves out objects that the principal may not read itself: an approver may have planned it. */
export function shownTo({ operations }: Core, principal: Principal, request: ChangeRequest): ChangeRequest {
  const mayRead = ({ current }: PlannedStep): boolean => {
    const operation = current && operations.named(current.operation);
    return operation !== undefined && operation !== null && may(principal, operation.key, operation.row).allowed;
  };
  const steps = request.plan.steps.map((step) => (mayRead(step) ? step : { ...step, current: null }));
  return { ...request, plan: { ...request.plan, steps } };
}

/** Returns a request that the principal may see. Throws an {@link AdminProblem}. */
export function entryFor(core: Core, id: string, principal: Principal): Entry {
  const entry = core.book.find(id);
  if (!entry || !maySee(core, principal, entry.stored.request)) throw unknownRequest();
  return entry;
}
