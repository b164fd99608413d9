import type { Dispatcher } from 'undici';

/** A response that was read to its end. */
export interface BufferedResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** As UTF-8, without a byte order mark. */
  readonly text: string;
}

/** The parameters of a GET; never used for a change. */
export interface BufferedRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  /** Called when the headers of the response have arrived. */
  readonly onAnswer: () => void;
}

const utf8 = new TextDecoder();

/**
 * Sends a GET and reads the response to its end. Does not use undici's `request`: the stream,
 * promises and headers that it creates outlive the call and burden the garbage collector. Rejects
 * with the signal's reason as soon as it aborts, also while the request waits for a connection; it
 * is not sent then.
 */
export function readResponse(dispatcher: Dispatcher, request: BufferedRequest): Promise<BufferedResponse> {
  const { signal, onAnswer, path, headers } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let chunks: Buffer[] = [];
    let begun: Pick<BufferedResponse, 'status' | 'headers'> = { status: 0, headers: {} };

    const leave = (): void => {
      const reason = signal.reason as Error;
      controller?.abort(reason);
      fail(reason);
    };
    /** Drops the data of the call, so that references to it retain little memory. */
    const end = (): void => {
      signal.removeEventListener('abort', leave);
      controller = undefined;
      chunks = [];
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };

    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    dispatcher.dispatch(
      { method: 'GET', path, headers },
      {
        onRequestStart(started) {
          if (signal.aborted) started.abort(signal.reason as Error);
          else controller = started;
        },
        onResponseStart(_controller, status, headers) {
          // An informational (1xx) response is followed by the final one.
          if (status < 200) return;
          begun = { status, headers };
          onAnswer();
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const text = utf8.decode(Buffer.concat(chunks));
          end();
          resolve({ ...begun, text });
        },
        onResponseError(_controller, error) {
          fail(error);
        },
      },
    );
  });
}
