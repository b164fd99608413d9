import type { AdminBlock } from './admin-schema.ts';
import { globMatcher } from '../lib/text.ts';

/** The checked settings of the admin gateway; without them it does not listen. */
export interface AdminSettings extends Omit<AdminBlock, 'tokens' | 'insecurePlaintext'> {
  readonly tokens: readonly TokenSettings[];
}

export type ApprovalSettings = AdminBlock['approvals'];

/** A token; `allow` and `deny` are keys of operations, `appliances` are globs. */
export interface TokenSettings extends Omit<AdminBlock['tokens'][number], 'person'> {
  /** The holder of the token. */
  readonly person: string;
}

/** The operations of the API by key, with their routes: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/** Returns the settings of the gateway, with the operations that its tokens may call. */
export function adminSettings(block: AdminBlock, operations: OperationRoutes): AdminSettings {
  const { tokens, insecurePlaintext: _onlyChecked, ...admin } = block;
  const keysOf = (entries: readonly string[]) => [
    ...new Set(entries.flatMap((entry) => matchOperations(entry, operations))),
  ];
  return {
    ...admin,
    tokens: tokens.map(({ allow, deny, ...token }) => ({
      ...token,
      ...(allow && { allow: keysOf(allow) }),
      deny: keysOf(deny),
      person: token.person ?? token.name,
    })),
  };
}

/**
 * Returns the keys that an entry of `allow` or `deny` matches: a key, a route, or a pattern with
 * `*` over both.
 */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const fits = globMatcher(entry);
  return [...operations].filter(([key, route]) => fits(key) || fits(route)).map(([key]) => key);
}
