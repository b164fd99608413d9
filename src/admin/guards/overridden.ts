import type { GuardFinding } from './guard.ts';

/**
 * Names of the guards whose blocking findings were overridden, by what overrides them; used in the
 * audit and in dry runs.
 */
export interface Overridden {
  /** Overridden by X-Force. */
  readonly forced?: readonly string[];
  /** Overridden by the option `guards: warn` of the token. */
  readonly warned?: readonly string[];
}

export interface Overrider {
  readonly force: boolean;
  readonly principal: { readonly guards: 'refuse' | 'warn' };
}

/**
 * Returns the guards that a request overrides; empty if no finding blocks, or if the guards are
 * obeyed.
 */
export function overriddenBy(findings: readonly GuardFinding[], { force, principal }: Overrider): Overridden {
  const blocking = new Set(findings.filter(({ severity }) => severity === 'blocking').map(({ guard }) => guard));
  if (blocking.size === 0) return {};
  if (force) return { forced: [...blocking] };
  return principal.guards === 'warn' ? { warned: [...blocking] } : {};
}
