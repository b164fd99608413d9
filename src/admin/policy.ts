import type { EndpointRow, Risk } from '../appliance/endpoints/row.ts';
import type { EndpointKey } from '../appliance/endpoints/table.ts';
import type { AuditRecord } from './audit/record.ts';
import type { OperationCall } from './operation.ts';
import type { OwnOperation } from './operation-routes.ts';
import type { Principal } from './principal.ts';

/**
 * `viewer` reads what is not confidential, `operator` also makes reversible changes, `admin` does
 * everything.
 */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The risks that each role may take; others are refused. */
const allowedRisks: Readonly<Record<Role, readonly Risk[]>> = {
  viewer: ['read'],
  operator: ['read', 'reversible'],
  admin: ['read', 'secret', 'reversible', 'disruptive', 'destructive'],
};

/** The decision of the policy; a refusal has a reason. */
export type Decision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly because: 'role_too_low' | 'operation_denied' | 'appliance_denied' };

export function roleMay(role: Role, risk: Risk): boolean {
  return allowedRisks[role].includes(risk);
}

/**
 * Decides by role first, then by the token's own lists: `deny` wins over `allow`, and neither adds
 * to the role.
 */
export function may(principal: Principal, key: EndpointKey, { risk }: Pick<EndpointRow, 'risk'>): Decision {
  if (!roleMay(principal.role, risk)) return { allowed: false, because: 'role_too_low' };
  return listsAllow(principal, key) ? { allowed: true } : { allowed: false, because: 'operation_denied' };
}

/**
 * Decides on an operation of the gateway itself. Each needs the role admin; freeze and thaw also
 * need a token for all appliances.
 */
export function mayOwn(principal: Principal, key: OwnOperation): Decision {
  if (principal.role !== 'admin') return { allowed: false, because: 'role_too_low' };
  if (!listsAllow(principal, key)) return { allowed: false, because: 'operation_denied' };
  const isForAll = key === 'readAudit' || coversAll(principal);
  return isForAll ? { allowed: true } : { allowed: false, because: 'appliance_denied' };
}

/**
 * Returns true if the token covers a record of the audit, or the filter of a query. A record
 * without an appliance needs a token for all.
 */
export function maySee(
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
export function listsAllow({ allow, deny }: Pick<Principal, 'allow' | 'deny'>, key: string): boolean {
  return !deny.includes(key) && (allow?.includes(key) ?? true);
}

/**
 * Returns the risk of a call: that of its row, except if a release serves private keys under a
 * harmless route (docs/api.md §3.11).
 */
export function riskOf({ operation, params }: OperationCall): Risk {
  const isKey = operation.key === 'readCertificateInfo' && params.file?.toLowerCase().endsWith('.key');
  return isKey ? 'secret' : operation.row.risk;
}
