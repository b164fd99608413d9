import { type Static, Type } from 'typebox';
import type { Params, ReadKey, ReplyOf } from '../../../appliance/client.ts';
import type { KnownFarm } from '../../../appliance/farm.ts';
import type { EndpointKey } from '../../../appliance/api/table.ts';
import { assert } from '../../../lib/check.ts';
import type { AuditRecord } from '../../journal/record.ts';
import { AdminProblem } from '../problem.ts';

/** A warning about a call. A `blocking` one stops the call unless it is forced with a reason. */
export const FindingSchema = Type.Object({
  guard: Type.String({ description: 'The stable name of the guard, such as `hard_restart`.' }),
  severity: Type.Enum(['blocking', 'warning']),
  message: Type.String({ description: 'The consequence, with names and numbers.' }),
  remedy: Type.String({ description: 'What to do instead.' }),
});
export type GuardFinding = Readonly<Static<typeof FindingSchema>>;

/** A finding without the name of its guard, which is added. */
export type Hazard = Omit<GuardFinding, 'guard'>;

/**
 * Reads from the appliance with the gateway's key, for at most `limitMs` instead of the usual time.
 * Rejects with an {@link ApplianceError}.
 */
export type GuardRead = <Key extends ReadKey>(key: Key, params: Params<Key>, limitMs?: number) => Promise<ReplyOf<Key>>;

/** The replies of an appliance by {@link cacheKey}. A write makes all of them stale. */
export type ReadCache = Map<string, Promise<unknown>>;

export function cacheKey(key: EndpointKey, params: Readonly<Record<string, string>>): string {
  return `${key} ${JSON.stringify(params)}`;
}

export interface GuardContext {
  readonly operationId: EndpointKey;
  /** The decoded values of the path's placeholders. */
  readonly params: Readonly<Record<string, string>>;
  /** The fields of the JSON body; empty when there is none. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The same read is made once per request, or per plan. */
  readonly read: GuardRead;
  /** Returns the farms as the exporter read them last; undefined where they are not known. */
  readonly knownFarms: () => readonly KnownFarm[] | undefined;
}

/** Checks a call for one known hazard of the API (docs/api.md §4, §5). */
export interface Guard {
  readonly name: string;
  /** For the documentation; a warning appears in dry runs and stops nothing. */
  readonly effect: 'refuses' | 'warns' | 'refuses or warns';
  readonly operations: readonly EndpointKey[];
  /** One sentence for the documentation. */
  readonly about: string;
  /**
   * Returns what is wrong with the call. Rejects when a read fails; that counts as a blocking
   * finding.
   */
  inspect(context: GuardContext): Promise<Hazard | undefined>;
}

/** Returns the value of a placeholder that all operations of the guard have. */
export function callParam({ operationId, params }: GuardContext, name: string): string {
  const value = params[name];
  assert(value !== undefined, `${operationId} has no {${name}}`);
  return value;
}

/**
 * Returns true if any release could read the action of the body as this lower-case word: blanks and
 * case are ignored, and a list or an object, which the known releases refuse, may mean anything.
 */
export function couldMean({ fields: { action } }: GuardContext, word: string): boolean {
  if (typeof action === 'object') return action !== null;
  return typeof action === 'string' && action.toLowerCase().replaceAll(/[^a-z]/g, '') === word;
}

/**
 * Names of the guards whose blocking findings were overridden, by what overrides them, and a
 * missing approval; used in the audit, the log and dry runs.
 */
export type Overridden = Pick<AuditRecord, 'forced' | 'warned' | 'break_glass'>;

interface Overrider {
  readonly force: boolean;
  readonly principal: { readonly guards: 'refuse' | 'warn' };
}

/**
 * Returns the guards that a request overrides; empty if no finding blocks, or if the guards are
 * obeyed.
 */
export function overriddenBy(findings: readonly GuardFinding[], { force, principal }: Overrider): Overridden {
  const blocking = blockingOf(findings).map(({ guard }) => guard);
  if (blocking.length === 0) return {};
  if (force) return { forced: blocking };
  return principal.guards === 'warn' ? { warned: blocking } : {};
}

export function blockingOf(findings: readonly GuardFinding[]): readonly GuardFinding[] {
  return findings.filter(({ severity }) => severity === 'blocking');
}

/** Throws an {@link AdminProblem} for findings that block the call, unless they are overridden. */
export function assertNothingBlocks(findings: readonly GuardFinding[], { forced, warned }: Overridden): void {
  const blocking = blockingOf(findings);
  if (blocking.length === 0 || forced || warned) return;
  throw new AdminProblem('guarded', {
    detail: `${blocking.map(({ message }) => message).join(' ')} Nothing was sent.`,
    remedyValue: blocking.map(({ remedy }) => remedy).join(' '),
    members: { findings },
  });
}
