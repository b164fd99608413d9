import type { LookupAddress } from 'node:dns';
import { buildConnector, type Dispatcher } from 'undici';
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

/**
 * Returns a dispatcher that calls `onSending` right before the first byte of a request leaves: the
 * connection is there, its certificate is verified, and the caller still waits. If it throws,
 * nothing is sent, and the request rejects with what it threw. A request that fails without this
 * call was never sent.
 */
export function beforeFirstByte(dispatcher: Dispatcher, onSending: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart(controller, context) {
          handler.onRequestStart?.(controller, context);
          if (!controller.aborted) onSending();
        },
        onRequestUpgrade: (...all) => handler.onRequestUpgrade?.(...all),
        onResponseStart: (...all) => handler.onResponseStart?.(...all),
        onResponseData: (...all) => handler.onResponseData?.(...all),
        onResponseEnd: (...all) => handler.onResponseEnd?.(...all),
        onResponseError: (...all) => handler.onResponseError?.(...all),
      }),
  );
}
