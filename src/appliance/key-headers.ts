import type { Secret } from '../lib/secret.ts';

/** The headers that may carry the key: with an underscore for the program, with a hyphen where a proxy drops underscores. */
export const keyHeaderNames = ['ZAPI_KEY', 'API_KEY', 'ZAPI-KEY', 'API-KEY'] as const;

export interface KeyOptions {
  readonly apiKey: Secret;
  /** The gateway's key for polling, and the other way round: never sent, but the appliance may show it all the same. */
  readonly otherKey?: Secret | undefined;
  readonly keyHeader: 'auto' | (typeof keyHeaderNames)[number];
}

/** The keys that no text of the appliance may bring out. */
export function keysToHide({ apiKey, otherKey }: KeyOptions): readonly Secret[] {
  return otherKey ? [apiKey, otherKey] : [apiKey];
}

/** The key as it goes on the wire; `auto` sends it for older releases and for newer ones. */
export function keyHeaders({ apiKey, keyHeader }: KeyOptions): Record<string, string> {
  const names = keyHeader === 'auto' ? ['ZAPI_KEY', 'API_KEY'] : [keyHeader];
  return Object.fromEntries(names.map((name) => [name, apiKey.reveal()]));
}
