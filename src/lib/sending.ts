import type { Dispatcher } from 'undici';

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
