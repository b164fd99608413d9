import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { assert, errorCode } from '../lib/check.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { basicCredentials } from './basic-credentials.ts';
import { type BcryptThread, createBcryptThread } from './bcrypt-thread.ts';
import { clientCertificateProblem } from './client-certificate.ts';
import { networkOf } from './crowd.ts';
import { createGuardedServer, type GuardedServer, hasSeveralHosts } from './guarded-server.ts';
import { type Attempt, createPasswordCheck, type Verdict } from './password-check.ts';
import { createQuietLog } from './quiet-log.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';
import { asksAnew, certificateEndsAtMs, tlsOptions, webChangeProblem, type WebPolicy } from './web-policy.ts';
import { answerToNoRequest, mostBodyBytes, type Refusal, refuse, refusedFor } from './web-refusal.ts';

/** Who gets to the metrics listener: TLS, client certificates, passwords and limits, in front of every path. */
export interface WebAccess {
  /** A server that hands on to `handler` what is let in. */
  serve(handler: RequestListener): Server;
  /** Goes over to another policy; new connections and requests meet it at once. `webChangeProblem` says which it can be. */
  update(policy: WebPolicy): void;
  close(): Promise<void>;
}

export interface WebAccessParts {
  readonly policy: WebPolicy;
  readonly log: Logger;
  /** Where passwords are compared. */
  readonly thread?: BcryptThread;
  /** How long clients may take to say what they want; see {@link createGuardedServer}. */
  readonly patienceMs?: number;
}

const mostConnections = 512;
/** Longer than a usual scrape interval, so that a connection is not closed just as the next scrape uses it. */
const keepAliveMs = 75_000;
/** A client that stopped reading is cut off; longer than the above, which it would otherwise cut short. */
const stalledMs = 120_000;

export function createWebAccess(parts: WebAccessParts): WebAccess {
  const { log, thread = createBcryptThread(), patienceMs = 10_000 } = parts;
  const passwords = createPasswordCheck({ compare: (password, hash) => thread.compare(password, hash) });
  const quietLog = createQuietLog({ log, now: steadyNow });
  const guardedServers: GuardedServer[] = [];
  let { policy } = parts;
  let bucket = bucketOf(policy);

  /** Not refused: an exporter that does not start shows nothing to those either who do not look at the end. */
  function tellExpiry({ tls }: WebPolicy): void {
    if (!tls) return;
    const endsAtMs = certificateEndsAtMs(tls);
    if (endsAtMs > Date.now()) return;
    const notAfter = new Date(endsAtMs).toISOString();
    log.warn({ notAfter }, 'the certificate of the metrics listener has expired; who checks it does not connect');
  }

  function notLetIn(because: string, address: string | undefined): void {
    quietLog.tell('warn', { address, because }, 'not let in');
  }

  /** Why a request is not handed on whoever sends it. */
  function refusalOf(request: IncomingMessage): Refusal | undefined {
    if (bucket?.take() === false) return refusedFor.rate;
    if (hasSeveralHosts(request)) return refusedFor.hosts;
    return hasLongBody(request) ? refusedFor.body : undefined;
  }

  async function passwordRefusalOf(request: IncomingMessage, { users }: WebPolicy): Promise<Refusal | undefined> {
    const credentials = basicCredentials(request.headers.authorization);
    // Browsers ask without a password first, and health checks always do.
    if (!credentials) return refusedFor.credentials;
    const { remoteAddress: address } = request.socket;
    switch (await verdictOn(users, { ...credentials, from: networkOf(address) })) {
      case 'right':
        return undefined;
      case 'wrong':
        notLetIn('the user or the password is wrong', address);
        return refusedFor.credentials;
      case 'busy':
        notLetIn('too many passwords wait to be checked', address);
        return refusedFor.waiting;
      case 'unknown':
        return refusedFor.failure;
    }
  }

  async function verdictOn(users: WebPolicy['users'], attempt: Attempt): Promise<Verdict | 'unknown'> {
    try {
      return await passwords.verdict(users, attempt);
    } catch (error) {
      quietLog.tell('error', { err: error }, 'a password could not be checked');
      return 'unknown';
    }
  }

  function answer(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    const refusal = refusalOf(request);
    if (refusal) refuse(response, refusal);
    else if (policy.users.size === 0) handler(request, response);
    else void answerUsers(request, response, handler);
  }

  async function answerUsers(
    request: IncomingMessage,
    response: ServerResponse,
    handler: RequestListener,
  ): Promise<void> {
    const refusal = await passwordRefusalOf(request, policy);
    if (refusal) refuse(response, refusal);
    else if (response.writable) handler(request, response);
  }

  return {
    serve(handler) {
      const { tls } = policy;
      tellExpiry(policy);
      const guarded = createGuardedServer({
        tls: tls && tlsOptions(tls),
        handler(request, response) {
          for (const [name, value] of Object.entries(policy.headers)) response.setHeader(name, value);
          answer(request, response, handler);
        },
        answerTo: (code) => answerToNoRequest(code, policy.headers),
        mostConnections,
        requestTimeoutMs: patienceMs,
        handlesOddRequests: false,
        patienceMs,
      });
      const { server } = guarded;
      server.keepAliveTimeout = keepAliveMs;
      server.setTimeout(stalledMs);
      // Before the server itself begins to read from it.
      server.prependListener('secureConnection', (socket: TLSSocket) => {
        const problem = policy.tls && clientCertificateProblem(socket, policy.tls);
        if (problem === undefined) return;
        notLetIn(problem, socket.remoteAddress);
        socket.destroy();
      });
      server.on('tlsClientError', (error, socket: TLSSocket) => {
        const code = errorCode(error);
        // Who leaves in the middle, as probes of a port do, is not worth a line.
        if (code.startsWith('ERR_SSL_'))
          notLetIn(`the TLS handshake failed (${code})${hintFor(code)}`, socket.remoteAddress);
      });
      guardedServers.push(guarded);
      return server;
    },

    update(next) {
      assert(webChangeProblem(policy, next) === undefined, 'who changes the policy asked whether it can change');
      const before = policy;
      for (const { server } of guardedServers) {
        if (next.tls && server instanceof TlsServer) server.setSecureContext(tlsOptions(next.tls));
      }
      policy = next;
      if (before.tls?.cert !== next.tls?.cert) tellExpiry(next);
      bucket = bucketOf(next);
      if (asksAnew(before, next)) for (const guarded of guardedServers) guarded.retireConnections();
    },

    close: () => thread.close(),
  };
}

function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > mostBodyBytes;
}

/** What is nearly always behind it, where Prometheus is the client. */
function hintFor(code: string): string {
  if (code === 'ERR_SSL_HTTP_REQUEST') return ': it speaks plain HTTP, so its scrape configuration wants scheme: https';
  if (/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(?:UNKNOWN|EXPIRED)/.test(code))
    return ': it does not trust the certificate of this listener, so its tls_config wants the right ca_file, or the certificate to be renewed';
  return '';
}

function bucketOf({ rateLimit }: WebPolicy): TokenBucket | undefined {
  return rateLimit && createTokenBucket({ ...rateLimit, now: steadyNow });
}
