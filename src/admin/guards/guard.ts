import type { Params, ReadKey, ReplyOf } from '../../appliance/client.ts';
import type { EndpointKey } from '../../appliance/endpoints/table.ts';
import { assert } from '../../lib/check.ts';

/** A warning about a call. A `blocking` one stops the call unless it is forced with a reason. */
export interface GuardFinding {
  /** Stable name of the guard, such as `hard_restart`. */
  readonly guard: string;
  readonly severity: 'blocking' | 'warning';
  /** What would happen, with names and numbers. */
  readonly message: string;
  /** What to do instead. */
  readonly remedy: string;
}

/** A finding without the name of its guard, which is added. */
export type Trap = Omit<GuardFinding, 'guard'>;

/** Reads from the appliance with the gateway's key. Rejects with an {@link ApplianceError}. */
export type GuardRead = <Key extends ReadKey>(key: Key, params: Params<Key>) => Promise<ReplyOf<Key>>;

export interface GuardContext {
  readonly operation: EndpointKey;
  /** The decoded values of the path's placeholders. */
  readonly params: Readonly<Record<string, string>>;
  /** The JSON body; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The same read is made once per request. */
  readonly read: GuardRead;
}

/** Checks a call for one known hazard of the API (docs/api.md §5, §8). */
export interface Guard {
  readonly name: string;
  /** For the documentation; a warning appears in dry runs and stops nothing. */
  readonly effect: 'refuses' | 'warns' | 'refuses or warns';
  readonly operations: readonly EndpointKey[];
  /** One sentence for the documentation. */
  readonly about: string;
  /** Rejects when a read fails; that counts as a blocking finding. */
  inspect(context: GuardContext): Promise<readonly Trap[]>;
}

/** Returns the value of a placeholder that all operations of the guard have. */
export function callParam({ operation, params }: GuardContext, name: string): string {
  const value = params[name];
  assert(value !== undefined, `${operation} has no {${name}}`);
  return value;
}

/**
 * Returns true if any release could read a value of the body as this lower-case word: blanks and
 * case are ignored, and a list or an object, which the known releases refuse, may mean anything.
 */
export function couldMean({ body }: GuardContext, name: string, word: string): boolean {
  const value = body[name];
  if (typeof value === 'object') return value !== null;
  return typeof value === 'string' && value.toLowerCase().replaceAll(/[^a-z]/g, '') === word;
}
