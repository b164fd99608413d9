import type { Dispatcher } from 'undici';

/** An answer that was read to its end. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** As UTF-8, without a byte order mark. */
  readonly text: string;
}

/** Of a GET: what changes something is never read by this. */
export interface WholeAnswerRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  /** The beginning of an answer is there. */
  readonly onAnswer: () => void;
}

const utf8 = new TextDecoder();

/**
 * Asks and reads the answer to its end. Not by undici's own `request`: the stream, the promises and the headers that it makes
 * for a call outlive it, and were half of what the garbage collector had to move. Rejects with the signal's reason as
 * soon as it aborts, also while the request waits for a connection; it is not sent then.
 */
export function readWhole(dispatcher: Dispatcher, request: WholeAnswerRequest): Promise<WholeAnswer> {
  const { signal, onAnswer, path, headers } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let chunks: Buffer[] = [];
    let begun: Pick<WholeAnswer, 'status' | 'headers'> = { status: 0, headers: {} };

    const leave = (): void => {
      const reason = signal.reason as Error;
      controller?.abort(reason);
      fail(reason);
    };
    /** Lets go of what the call had, so that whoever still knows the call keeps little. */
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
          // An interim answer is followed by the real one.
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
