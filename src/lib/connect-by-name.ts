import type { LookupAddress } from 'node:dns';
import { buildConnector } from 'undici';
import { toError } from './check.ts';
import { lookupBy, type HostResolver } from './host-resolver.ts';

/**
 * Creates a connector of undici that looks names up by `resolver`, for at most `withinMs`; the time
 * of the lookup does not count for the `timeout` of the connection.
 */
export function connectByName(
  resolver: HostResolver,
  withinMs: number,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  let addresses: readonly LookupAddress[] = [];
  const connect = buildConnector({ ...options, lookup: lookupBy(() => Promise.resolve(addresses)) });

  async function connectTo(target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    try {
      addresses = await resolver.resolve(target.hostname, withinMs);
      connect(target, callback);
    } catch (error) {
      callback(toError(error), null);
    }
  }

  return (target, callback) => void connectTo(target, callback);
}
