import type { Readable } from 'node:stream';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { type buildConnector, type Dispatcher, errors, Pool } from 'undici';
import { GrowingBuffer } from '../lib/growing-buffer.ts';
import { maxResolveMs, type HostResolver } from '../lib/host-resolver.ts';
import { beforeFirstByte, connectByName } from '../lib/undici.ts';

export interface TlsOptions {
  /** PEM of the authority, or of the appliance's own self-signed certificate. */
  readonly ca?: string;
  readonly serverName?: string;
  /** Lower-case hex of the SHA-256 of the certificate; pins it and replaces every other check. */
  readonly fingerprintSha256?: string;
  readonly insecureSkipVerify: boolean;
}

export interface ConnectionOptions {
  readonly url: URL;
  readonly tls: TlsOptions;
  /** One for all connections of the process. */
  readonly resolver: HostResolver;
  /** The longest wait for headers, and between two parts of a body. */
  readonly timeoutMs: number;
  /** The longest wait for a connection without its name, at most {@link maxConnectMs}. */
  readonly connectMs?: number;
  readonly maxConnections: number;
  readonly bodyBytes: number;
  /** The time for which a connection without a request stays open. */
  readonly keepAliveMs: number;
}

interface ConnectionRequest {
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal;
  /** See {@link beforeFirstByte}. */
  readonly onSending?: () => void;
}

/** The life of a certificate, or of a licence. */
export interface Validity {
  /** Undefined if it is not known. */
  readonly notBeforeSeconds?: number | undefined;
  readonly notAfterSeconds: number;
}

export type ApplianceConnection = ReturnType<typeof createConnection>;

const maxConnectMs = 5_000;

/** Creates a pool; opens no connection until the first request. */
export function createConnection(options: ConnectionOptions) {
  const { bodyBytes } = options;
  let certificate: Validity | undefined;
  const connect = createConnector(options, (socket) => {
    certificate = validityOf(socket) ?? certificate;
  });
  let pool = createPool(options, connect);
  return {
    /** Resolves when the headers have arrived; the body is a stream. */
    request: ({ onSending = () => undefined, ...request }: ConnectionRequest) =>
      beforeFirstByte(pool, onSending)
        .request(request)
        .catch((error: unknown) => {
          throw headersFault(error) ?? error;
        }),
    read: (request: BufferedRequest) => readResponse(pool, request, bodyBytes),
    /**
     * Makes the next request open a new connection: a fail-over leaves sockets that look open and
     * never answer. Requests under way keep their connections.
     */
    reset(): void {
      // A retired pool must not be replaced.
      if (pool.closed || pool.destroyed) return;
      const dropped = pool;
      pool = createPool(options, connect);
      void dropped.close();
    },
    certificate: () => certificate,
    /** Lets requests under way end, and accepts no new ones. */
    retire: () => pool.close(),
    close: () => pool.destroy(),
  };
}

function createPool(
  { url, timeoutMs, maxConnections, bodyBytes, keepAliveMs }: ConnectionOptions,
  connect: buildConnector.connector,
): Pool {
  return new Pool(url.origin, {
    connections: maxConnections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: bodyBytes,
    keepAliveTimeout: keepAliveMs,
    // A server may offer to keep them for longer.
    keepAliveMaxTimeout: keepAliveMs,
    connect,
  });
}

/**
 * Reports that a server has another certificate than the pinned one. The request, and so the key,
 * was not sent.
 */
class FingerprintMismatchError extends Error {
  override readonly name = 'FingerprintMismatchError';
  readonly code = 'ERR_TLS_FINGERPRINT_MISMATCH';
}

/** `onAccepted` receives each connection whose certificate is accepted. */
function createConnector(
  { tls, resolver, timeoutMs, connectMs = timeoutMs }: ConnectionOptions,
  onAccepted: (socket: TLSSocket) => void,
): buildConnector.connector {
  const accept = (socket: TLSSocket, callback: buildConnector.Callback): void => {
    onAccepted(socket);
    callback(null, socket);
  };
  const pinned = tls.fingerprintSha256;
  const timeout = Math.min(connectMs, maxConnectMs);
  // Before the call itself is given up, whose error would not name the cause.
  const nameMs = Math.min(0.9 * connectMs, maxResolveMs);
  // The limit is for the handshake too.
  const tooSlow = (): Error => new errors.ConnectTimeoutError(`no connection within ${timeout / 1_000} s`);
  let connect: buildConnector.connector | undefined;

  /** Parses the certificates once, at the first connection. */
  function build(): buildConnector.connector {
    return connectByName(resolver, nameMs, {
      timeout,
      allowH2: false,
      // Every new connection must verify the certificate.
      maxCachedSessions: 0,
      rejectUnauthorized: pinned === undefined && !tls.insecureSkipVerify,
      secureContext: createSecureContext(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    });
  }

  return (options, callback) => {
    connect ??= build();
    connect(options, (...[error, socket]) => {
      if (error) return callback(error instanceof errors.ConnectTimeoutError ? tooSlow() : error, null);
      if (pinned === undefined) return accept(socket as TLSSocket, callback);
      const seen = fingerprintOf(socket as TLSSocket);
      if (seen === pinned) return accept(socket as TLSSocket, callback);
      socket.destroy();
      callback(
        new FingerprintMismatchError(`expected SHA-256 fingerprint ${pinned}, the server's certificate has ${seen}`),
        null,
      );
    });
  };
}

/** Returns the life of the peer's certificate; undefined where its end cannot be read. */
function validityOf(socket: TLSSocket): Validity | undefined {
  const { valid_from, valid_to } = socket.getPeerCertificate();
  const [notBeforeSeconds, notAfterSeconds] = [valid_from, valid_to].map((date) => {
    const seconds = Date.parse(date ?? '') / 1_000;
    return Number.isNaN(seconds) ? undefined : seconds;
  });
  return notAfterSeconds === undefined ? undefined : { notBeforeSeconds, notAfterSeconds };
}

/** Returns the SHA-256 of the peer's certificate in lower-case hex. */
function fingerprintOf(socket: TLSSocket): string {
  return socket.getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase() ?? '';
}

/** Reports headers that do not say where the response ends. */
class FramingError extends Error {
  override readonly name = 'FramingError';
  readonly code = 'ERR_ANSWER_FRAMING';
}

/**
 * Returns the true reason of a failure before the headers are complete; undefined if the error says
 * it. When the parser refuses a header behind Content-Length, undici reports a body that was cut.
 */
function headersFault(error: unknown): Error | undefined {
  if (!(error instanceof errors.ResponseContentLengthMismatchError)) return undefined;
  return new FramingError(
    'its headers break HTTP/1.1: two lengths, a length beside Transfer-Encoding, a length that is not a number of bytes, or a malformed line behind the length',
  );
}

interface BufferedResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** The body as UTF-8, without a byte order mark. */
  readonly text: string;
}

/** The parameters of a GET; never used for a change. */
interface BufferedRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly onHeaders: () => void;
}

const utf8 = new TextDecoder();

/**
 * Sends a GET and reads the response to its end. Does not use undici's `request`: the stream,
 * promises and headers that it creates live longer than the call and burden the garbage collector.
 * Rejects with the signal's reason as soon as it aborts, also while the request waits for a
 * connection; it is not sent then.
 */
function readResponse(dispatcher: Dispatcher, request: BufferedRequest, maxBytes: number): Promise<BufferedResponse> {
  const { signal, onHeaders, path, headers } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let body: GrowingBuffer | undefined = new GrowingBuffer(maxBytes);
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
      body = undefined;
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
          onHeaders();
        },
        onResponseData(responding, chunk) {
          if (body?.add(chunk) === false) responding.abort(new errors.ResponseExceededMaxSizeError());
        },
        onResponseEnd() {
          const text = utf8.decode(body?.bytes);
          end();
          resolve({ ...begun, text });
        },
        onResponseError(_controller, error) {
          fail((begun.status === 0 && headersFault(error)) || error);
        },
      },
    );
  });
}
