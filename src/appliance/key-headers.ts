import type { Secret } from '../lib/secret.ts';

/** The headers that may carry the key; those with a hyphen pass proxies that drop underscores. */
export const keyHeaderNames = ['ZAPI_KEY', 'API_KEY', 'ZAPI-KEY', 'API-KEY'] as const;

export interface KeyOptions {
  readonly apiKey: Secret;
  /**
   * The key of polling for the gateway, and vice versa: never sent here, but an appliance may show
   * it.
   */
  readonly otherKey?: Secret | undefined;
  readonly keyHeader: 'auto' | (typeof keyHeaderNames)[number];
}

/** Returns the keys to remove from all texts of the appliance. */
export function keysToHide({ apiKey, otherKey }: KeyOptions): readonly Secret[] {
  return otherKey ? [apiKey, otherKey] : [apiKey];
}

/** Returns the headers with the key; `auto` sends both names, for older and newer releases. */
export function keyHeaders({ apiKey, keyHeader }: KeyOptions): Record<string, string> {
  const names = keyHeader === 'auto' ? ['ZAPI_KEY', 'API_KEY'] : [keyHeader];
  return Object.fromEntries(names.map((name) => [name, apiKey.reveal()]));
}
