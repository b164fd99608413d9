// Decides which token may make which call: by its role, then by its own lists. It keeps nothing and
// waits for nothing. A refusal is a value here, and an AdminProblem with a code of a closed list
// where it ends a request (problem.ts). What depends on the state of an appliance is decided by the
// guards. Read on in principal.ts, operation.ts, freeze.ts and guards/inspect.ts.

import type { EndpointRow, Risk } from '../../appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../appliance/api/table.ts';
import type { AuditRecord } from '../journal/record.ts';
import type { OperationCall } from './operation.ts';
import type { Principal, Role } from './principal.ts';
import { AdminProblem } from './problem.ts';

/** The risks that each role may take; others are refused. */
const allowedRisks: Readonly<Record<Role, readonly Risk[]>> = {
  viewer: ['read'],
  operator: ['read', 'reversible'],
  admin: ['read', 'secret', 'reversible', 'disruptive', 'destructive'],
  alertmanager: [],
};

/**
 * The gateway's own operations that `allow` and `deny` of a token may name, by key, with their
 * routes.
 */
export const gatewayOperations = {
  readAudit: 'GET /audit',
  freeze: 'PUT /freeze',
  unfreeze: 'DELETE /freeze',
} as const;

export type GatewayOperation = keyof typeof gatewayOperations;

/**
 * Returns the route of every operation by its key, for the lists of operations in a configuration.
 */
export function operationRoutes(): ReadonlyMap<string, string> {
  const routes = Object.entries(endpoints).map(([key, { route }]) => [key, route] as const);
  return new Map([...routes, ...Object.entries(gatewayOperations)]);
}

type Refusal = 'role_too_low' | 'operation_denied' | 'appliance_denied';
/** The decision of the policy; a refusal has a reason. */
export type Permission = { readonly allowed: true } | { readonly allowed: false; readonly because: Refusal };

export function isWriteRisk(risk: Risk): boolean {
  return risk !== 'read' && risk !== 'secret';
}

export function roleMay(role: Role, risk: Risk): boolean {
  return allowedRisks[role].includes(risk);
}

/**
 * Decides by role first, then by the token's own lists: `deny` wins over `allow`, and neither adds
 * to the role. A planner may make a dry run of each change; {@link assertNotPlanner} ends all else.
 */
export function may(
  principal: Pick<Principal, 'role' | 'allow' | 'deny' | 'plansOnly'>,
  key: EndpointKey,
  { risk }: Pick<EndpointRow, 'risk'>,
): Permission {
  const mayPlan = principal.plansOnly === true && isWriteRisk(risk);
  if (!mayPlan && !roleMay(principal.role, risk)) return { allowed: false, because: 'role_too_low' };
  return listsAllow(principal, key) ? { allowed: true } : { allowed: false, because: 'operation_denied' };
}

/**
 * Decides on an operation of the gateway itself. Each needs the role admin; freeze and unfreeze
 * also need a token for all appliances.
 */
export function mayUseGatewayOperation(principal: Principal, key: GatewayOperation): Permission {
  if (principal.role !== 'admin') return { allowed: false, because: 'role_too_low' };
  if (!listsAllow(principal, key)) return { allowed: false, because: 'operation_denied' };
  const isForAll = key === 'readAudit' || coversAll(principal);
  return isForAll ? { allowed: true } : { allowed: false, because: 'appliance_denied' };
}

/**
 * Returns true if the token covers a record of the audit, or the filter of a query. A record
 * without an appliance needs a token for all.
 */
export function maySeeRecord(
  principal: Principal,
  { appliance, operation }: Pick<AuditRecord, 'appliance' | 'operation'>,
): boolean {
  const isCovered = appliance === undefined ? coversAll(principal) : principal.covers(appliance);
  return isCovered && (operation === undefined || listsAllow(principal, operation));
}

/** Returns true if the token covers all appliances, future ones included. */
function coversAll({ appliances }: Principal): boolean {
  return appliances.some((glob) => /^\*+$/.test(glob));
}

/** Decides by the token's own lists, regardless of its role. */
function listsAllow({ allow, deny }: Pick<Principal, 'allow' | 'deny'>, key: string): boolean {
  return !deny.includes(key) && (allow?.includes(key) ?? true);
}

/**
 * Returns the risk of a call: that of its row, except if a release serves private keys under a
 * harmless route (docs/api.md §3.11).
 */
export function riskOf({ operation, params }: OperationCall): Risk {
  const isKey = operation.operationId === 'readCertificateInfo' && params.file?.toLowerCase().endsWith('.key');
  return isKey ? 'secret' : operation.row.risk;
}

/** Returns the risks of a call, with that of the side effect of a read. */
export function risksOf(call: OperationCall): readonly Risk[] {
  const { readSideEffect: sideEffect } = call.operation.row;
  const isCertain = sideEffect && (sideEffect.on === 'every call' || call.hasSideEffect);
  return isCertain ? [riskOf(call), sideEffect.risk] : [riskOf(call)];
}

/** Returns true for a call that may change the appliance, also for a read with a side effect. */
export function isWrite(call: OperationCall): boolean {
  return risksOf(call).some(isWriteRisk);
}

export function authorise(principal: Principal, call: OperationCall): void {
  for (const risk of risksOf(call)) authoriseRisk(principal, call, risk);
}

function authoriseRisk(principal: Principal, call: OperationCall, risk: Risk): void {
  const { operationId, row } = call.operation;
  const decision = may(principal, operationId, { risk });
  if (decision.allowed) return;
  const effect = risk === row.readSideEffect?.risk ? ` here, since it ${row.readSideEffect.does}` : '';
  const role = (['viewer', 'operator', 'admin'] as const).find((each) => roleMay(each, risk));
  throw new AdminProblem(decision.because, {
    detail:
      decision.because === 'role_too_low'
        ? `${operationId} is ${risk}${effect}, which the role ${principal.role} may not do; nothing was sent.`
        : `The allow and deny lists of ${principal.name} leave ${operationId} out; nothing was sent.`,
    remedyValue: role,
  });
}

/** Throws an {@link AdminProblem} for a principal that may plan changes and never send them. */
export function assertNotPlanner({ name, plansOnly }: Principal): void {
  if (!plansOnly) return;
  throw new AdminProblem('role_too_low', {
    detail: `${name} only plans repairs; nothing was sent.`,
    remedy: 'Approve the change with the token of a person.',
  });
}

/**
 * Throws an {@link AdminProblem} for a principal that may change nothing: its plan would be refused
 * only after the reads and the files that it needs.
 */
export function assertMayWrite({ name, role, plansOnly }: Principal): void {
  if (plansOnly || roleMay(role, 'reversible')) return;
  throw new AdminProblem('role_too_low', {
    detail: `The role ${role} of ${name} may change nothing, and so ask for no change; nothing was sent.`,
    remedyValue: 'operator or admin',
  });
}

/**
 * Throws an {@link AdminProblem} for an operation of the gateway itself that the policy refuses.
 */
export function authoriseGatewayOperation(principal: Principal, key: GatewayOperation): void {
  const decision = mayUseGatewayOperation(principal, key);
  if (decision.allowed) return;
  const { name, role, appliances } = principal;
  const details = {
    role_too_low: `This is for the role admin; ${name} is ${role}.`,
    operation_denied: `The allow and deny lists of ${name} leave ${key} out.`,
    appliance_denied: `A freeze is for all appliances and needs a token for '*'; that of ${name} is for ${appliances.join(', ')}.`,
  };
  throw new AdminProblem(decision.because, { detail: details[decision.because], remedyValue: 'admin' });
}

/**
 * Refuses filters of the audit that the token does not cover: an empty answer would read as
 * "nothing happened".
 */
export function assertVisible(
  principal: Principal,
  { appliance, operation }: { readonly appliance?: string | undefined; readonly operation?: string | undefined },
): void {
  if (appliance !== undefined && !principal.covers(appliance)) {
    throw new AdminProblem('appliance_denied', {
      detail: `The token of ${principal.name} does not cover an appliance of this name, and sees no record of it.`,
    });
  }
  if (operation !== undefined && !listsAllow(principal, operation)) {
    throw new AdminProblem('operation_denied', {
      detail: `The allow and deny lists of ${principal.name} leave this operation out, and its records with it.`,
    });
  }
}
