import type { Readable } from 'node:stream';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { readResponse, type BufferedResponse, type BufferedRequest } from './buffered-response.ts';

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
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly bodyBytes: number;
  /** How long a connection without a request stays open. */
  readonly keepAliveMs: number;
}

export interface ConnectionRequest {
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal;
}

/** The pool of connections to one appliance. */
export interface ApplianceConnection {
  /** Resolves when the headers have arrived; the body is a stream. */
  request(request: ConnectionRequest): Promise<Dispatcher.ResponseData>;
  /** Resolves when the response has ended. */
  read(request: BufferedRequest): Promise<BufferedResponse>;
  /**
   * Makes the next request open a new connection: a fail-over leaves sockets that look open and
   * never answer. Requests under way keep their connections.
   */
  reset(): void;
  /** Lets requests under way end, and accepts no new ones. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

const maxConnectMs = 5_000;

/** Creates a pool; opens no connection until the first request. */
export function createConnection(options: ConnectionOptions): ApplianceConnection {
  const connect = createConnector(options.tls, Math.min(options.timeoutMs, maxConnectMs));
  let pool = createPool(options, connect);
  return {
    request: (request) => pool.request(request),
    read: (request) => readResponse(pool, request),
    reset() {
      // A retired pool must not be replaced.
      if (pool.closed || pool.destroyed) return;
      const dropped = pool;
      pool = createPool(options, connect);
      void dropped.close();
    },
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
    connect,
  });
}

/**
 * Says that a server has another certificate than the pinned one. The request, and so the key, was
 * not sent.
 */
class FingerprintMismatchError extends Error {
  override readonly name = 'FingerprintMismatchError';
  readonly code = 'ERR_TLS_FINGERPRINT_MISMATCH';
}

function createConnector(tls: TlsOptions, timeout: number): buildConnector.connector {
  const pinned = tls.fingerprintSha256;
  let connect: buildConnector.connector | undefined;

  /** Parses the certificates once, at the first connection. */
  function build(): buildConnector.connector {
    return buildConnector({
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
    if (pinned === undefined) return connect(options, callback);
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const seen = fingerprintOf(socket as TLSSocket);
      if (seen === pinned) return callback(null, socket);
      socket.destroy();
      callback(
        new FingerprintMismatchError(`expected SHA-256 fingerprint ${pinned}, the server's certificate has ${seen}`),
        null,
      );
    });
  };
}

/** Returns the SHA-256 of the peer's certificate in lower-case hex. */
export function fingerprintOf(socket: TLSSocket): string {
  return socket.getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase() ?? '';
}
