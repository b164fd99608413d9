import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { assert, errorCode } from '../lib/check.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { type BcryptThread, createBcryptThread } from './bcrypt-thread.ts';
import { clientCertificateProblem } from './client-certificate.ts';
import { createGuardedServer, type GuardedServer } from './guarded-server.ts';
import { createThrottledLog, type ThrottledLog } from './throttled-log.ts';
import { createWebAuthorization, logRejected } from './web-authorization.ts';
import {
  certificateEndsAtMs,
  requiresReauthentication,
  tlsOptions,
  webChangeProblem,
  type WebPolicy,
} from './web-policy.ts';
import { malformedRequestResponse, sendRejection } from './web-rejection.ts';

/**
 * Controls access to the metrics listener: TLS, client certificates, passwords and limits, before
 * every path.
 */
export interface WebAccess {
  /** Returns a server that passes accepted requests to `handler`. */
  serve(handler: RequestListener): Server;
  /**
   * Applies another policy to new connections and requests at once. `webChangeProblem` must allow
   * the change.
   */
  update(policy: WebPolicy): void;
  close(): Promise<void>;
}

export interface WebAccessParts {
  readonly policy: WebPolicy;
  readonly log: Logger;
  /** Compares passwords. */
  readonly thread?: BcryptThread;
  /** How long a client may take to send a request; see {@link createGuardedServer}. */
  readonly idleTimeoutMs?: number;
}

const maxConnections = 512;
/**
 * Longer than a usual scrape interval, so that a connection is not closed just as the next scrape
 * uses it.
 */
const keepAliveMs = 75_000;
/**
 * Cuts a client that stopped reading; longer than `keepAliveMs`, which it would otherwise cut
 * short.
 */
const stalledMs = 120_000;

export function createWebAccess(parts: WebAccessParts): WebAccess {
  const { log, thread = createBcryptThread(), idleTimeoutMs = 10_000 } = parts;
  const throttledLog = createThrottledLog({ log, now: steadyNow });
  const authorization = createWebAuthorization({ policy: parts.policy, thread, throttledLog });
  const guardedServers: GuardedServer[] = [];
  let { policy } = parts;

  function answer(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const rejection = authorization.rejectionOf(request);
    if (rejection) sendRejection(response, rejection);
    else if (policy.users.size === 0) handler(request, response);
    else void answerUser(request, response, handler);
  }

  async function answerUser(
    request: IncomingMessage,
    response: ServerResponse,
    handler: RequestListener,
  ): Promise<void> {
    const rejection = await authorization.passwordRejectionOf(request, policy.users);
    if (rejection) sendRejection(response, rejection);
    else if (response.writable) handler(request, response);
  }

  return {
    serve(handler) {
      warnIfExpired(policy, log);
      const guarded = createGuardedServer({
        tls: policy.tls && tlsOptions(policy.tls),
        handler(request, response) {
          for (const [name, value] of Object.entries(policy.headers)) response.setHeader(name, value);
          answer(request, response, handler);
        },
        responseTo: (code) => malformedRequestResponse(code, policy.headers),
        maxConnections,
        requestTimeoutMs: idleTimeoutMs,
        handlesUnsupportedRequests: false,
        idleTimeoutMs,
      });
      const { server } = guarded;
      server.keepAliveTimeout = keepAliveMs;
      server.setTimeout(stalledMs);
      checkClientCertificates(server, () => policy, throttledLog);
      guardedServers.push(guarded);
      return server;
    },

    update(next) {
      assert(webChangeProblem(policy, next) === undefined, 'the caller has checked that the policy can change');
      const before = policy;
      for (const { server } of guardedServers) {
        if (next.tls && server instanceof TlsServer) server.setSecureContext(tlsOptions(next.tls));
      }
      policy = next;
      if (before.tls?.cert !== next.tls?.cert) warnIfExpired(next, log);
      authorization.update(next);
      if (requiresReauthentication(before, next)) {
        for (const guarded of guardedServers) guarded.retireConnections();
      }
    },

    close: () => thread.close(),
  };
}

/**
 * Warns only: an exporter that did not start would also hide its metrics from clients that do not
 * check the date.
 */
function warnIfExpired({ tls }: WebPolicy, log: Logger): void {
  if (!tls) return;
  const endsAtMs = certificateEndsAtMs(tls);
  if (endsAtMs > Date.now()) return;
  const notAfter = new Date(endsAtMs).toISOString();
  log.warn({ notAfter }, 'the certificate of the metrics listener has expired; who checks it does not connect');
}

/**
 * Closes connections whose client certificate the present policy rejects, and logs failed
 * handshakes.
 */
function checkClientCertificates(server: Server, policy: () => WebPolicy, throttledLog: ThrottledLog): void {
  // Runs before the server's own listener, which begins to read requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const { tls } = policy();
    const problem = tls && clientCertificateProblem(socket, tls);
    if (problem === undefined) return;
    logRejected(throttledLog, problem, socket.remoteAddress);
    socket.destroy();
  });
  server.on('tlsClientError', (error, socket: TLSSocket) => {
    const code = errorCode(error);
    // A client that disconnects during the handshake, such as a port probe, is not worth a line.
    if (code.startsWith('ERR_SSL_'))
      logRejected(throttledLog, `the TLS handshake failed (${code})${hintFor(code)}`, socket.remoteAddress);
  });
}

/** Returns the most likely cause of a failed handshake when Prometheus is the client. */
function hintFor(code: string): string {
  if (code === 'ERR_SSL_HTTP_REQUEST') return ': it speaks plain HTTP, so its scrape configuration wants scheme: https';
  if (/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(?:UNKNOWN|EXPIRED)/.test(code))
    return ': it does not trust the certificate of this listener, so its tls_config wants the right ca_file, or the certificate to be renewed';
  return '';
}
