import type { Risk } from '../appliance/endpoints/row.ts';
import { confirmationOf, isConfirmed } from './confirmation.ts';
import { type Freeze, frozenProblem } from './freeze.ts';
import type { GuardFinding } from './guards/guard.ts';
import { type Overridden, overriddenBy } from './guards/overridden.ts';
import type { OperationCall } from './operation.ts';
import type { OwnOperation } from './operation-routes.ts';
import { type Decision, listsAllow, may, mayOwn, riskOf } from './policy.ts';
import type { Principal } from './principal.ts';
import { AdminProblem } from './problem.ts';
import type { AdminRequest } from './request.ts';

type Denial = Extract<Decision, { readonly allowed: false }>['because'];

/** Returns true for a call that may change the appliance. */
export function changes(risk: Risk): boolean {
  return risk !== 'read' && risk !== 'secret';
}

/** The functions below throw an {@link AdminProblem} if the gateway must not send a call. */
export function refuseUnlessPermitted(principal: Principal, call: OperationCall): void {
  const { key } = call.operation;
  const risk = riskOf(call);
  const decision = may(principal, key, { risk });
  if (decision.allowed) return;
  throw new AdminProblem(decision.because, {
    detail:
      decision.because === 'role_too_low'
        ? `${key} is ${risk}, which the role ${principal.role} may not do; nothing was sent.`
        : `The allow and deny lists of ${principal.name} leave ${key} out; nothing was sent.`,
    remedy: 'Use a token with the right role, or change admin.tokens in the configuration.',
  });
}

export function refuseUnlessPermittedOwn(principal: Principal, key: OwnOperation): void {
  const decision = mayOwn(principal, key);
  if (!decision.allowed) throw ownDenied(principal, key, decision.because);
}

function ownDenied({ name, role, appliances }: Principal, key: OwnOperation, because: Denial): AdminProblem {
  switch (because) {
    case 'role_too_low':
      return new AdminProblem(because, {
        detail: `This is for the role admin; ${name} is ${role}.`,
        remedy: 'Use a token with the role admin.',
      });
    case 'operation_denied':
      return new AdminProblem(because, {
        detail: `The allow and deny lists of ${name} leave ${key} out.`,
        remedy: `Use another token, or let ${key} pass in admin.tokens of the configuration.`,
      });
    case 'appliance_denied':
      return new AdminProblem(because, {
        detail: `A freeze stops changes on all appliances, and the token of ${name} is for ${appliances.join(', ')} alone.`,
        remedy: "Use a token of role admin for all appliances: appliances: ['*'].",
      });
  }
}

/**
 * Refuses filters of the audit that the token does not cover: an empty answer would read as
 * "nothing happened".
 */
export function refuseUnseen(
  principal: Principal,
  { appliance, operation }: { readonly appliance?: string | undefined; readonly operation?: string | undefined },
): void {
  if (appliance !== undefined && !principal.covers(appliance)) {
    throw new AdminProblem('appliance_denied', {
      detail: `The token of ${principal.name} does not cover an appliance of this name, and sees no record of it.`,
      remedy: 'GET /appliances lists those that it covers.',
    });
  }
  if (operation !== undefined && !listsAllow(principal, operation)) {
    throw new AdminProblem('operation_denied', {
      detail: `The allow and deny lists of ${principal.name} leave this operation out, and its records with it.`,
      remedy: 'Use another token, or change admin.tokens in the configuration.',
    });
  }
}

export function refuseWhileFrozen(freeze: Freeze | undefined, { operation }: OperationCall): void {
  if (freeze && changes(operation.row.risk)) throw frozenProblem(freeze);
}

/** The header that tells a client how to send its token. */
export const challenge = { 'www-authenticate': 'Bearer realm="zlb-exporter"' } as const;

/** Refuses a token that expired while its request waited. */
export function refuseExpired({ name, expiresAtMs }: Principal, nowMs: number): void {
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs) throw tokenExpired(name, expiresAtMs);
}

export function tokenExpired(name: string, expiredAtMs: number): AdminProblem {
  return new AdminProblem('token_expired', {
    detail: `The token of ${name} expired on ${new Date(expiredAtMs).toISOString()}.`,
    remedy: 'Make a new one with `zlb-exporter token`, and put its digest into admin.tokens.',
    headers: challenge,
  });
}

/** Returns the refusal of a token that a reload removed while its request waited. */
export function tokenWithdrawn(name: string): AdminProblem {
  return new AdminProblem('unauthenticated', {
    detail: `The token of ${name} was changed or taken out of the configuration before the call was sent; nothing was sent.`,
    remedy: 'Repeat it with a token that is in force, if it is still wanted.',
    headers: challenge,
  });
}

/** Returns the outcome of a request whose caller has left, for the audit. */
export function callerLeft(): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: 'The caller left before the call was sent; nothing was sent.',
    remedy: 'Repeat it if it is still wanted.',
  });
}

export function refuseUnlessConfirmed(
  { confirm, principal }: Pick<AdminRequest, 'confirm' | 'principal'>,
  call: OperationCall,
  appliance: string,
): void {
  const { required, expected } = confirmationOf(call, appliance);
  if (!required || principal.skipConfirmation || isConfirmed(confirm, expected)) return;
  const [name = ''] = expected;
  const because = confirm === undefined ? 'was not confirmed' : 'X-Confirm names something else';
  throw new AdminProblem(confirm === undefined ? 'confirmation_required' : 'confirmation_mismatch', {
    detail: `${call.operation.key} cannot be undone, and ${because}; nothing was sent.`,
    remedy: `Check that you mean it, then repeat it with the header X-Confirm: ${encodeURIComponent(name)}.`,
    members: { expected },
  });
}

/** Throws for findings that block the call; returns those that are overridden instead. */
export function refuseFindings(
  findings: readonly GuardFinding[],
  request: Pick<AdminRequest, 'force' | 'principal'>,
): Overridden {
  const overridden = overriddenBy(findings, request);
  const blocking = findings.filter(({ severity }) => severity === 'blocking');
  if (blocking.length === 0 || overridden.forced || overridden.warned) return overridden;
  throw new AdminProblem('guarded', {
    detail: `${blocking.map(({ message }) => message).join(' ')} Nothing was sent.`,
    remedy: `${blocking.map(({ remedy }) => remedy).join(' ')} To do it all the same, add X-Force: true and X-Reason.`,
    members: { findings },
  });
}
