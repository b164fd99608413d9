import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { assert, errorCode } from '../lib/check.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { basicCredentials } from './basic-credentials.ts';
import { type BcryptThread, createBcryptThread } from './bcrypt-thread.ts';
import { clientCertificateProblem } from './client-certificate.ts';
import { createGuardedServer, type GuardedServer } from './guarded-server.ts';
import { type Attempt, createPasswordCheck, type Verdict } from './password-check.ts';
import { createRefusalLog } from './refusal-log.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';
import { asksAnew, tlsOptions, webChangeProblem, type WebPolicy } from './web-policy.ts';
import { mostBodyBytes, type Refusal, refuse, refusedFor } from './web-refusal.ts';

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
  const refusals = createRefusalLog({ log, message: 'not let in', now: steadyNow });
  const guardedServers: GuardedServer[] = [];
  let { policy } = parts;
  let bucket = bucketOf(policy);

  /** Why a request is not handed on; undefined when it is. */
  async function refusalOf(request: IncomingMessage): Promise<Refusal | undefined> {
    if (bucket?.take() === false) return refusedFor.rate;
    if (hasLongBody(request)) return refusedFor.body;
    return policy.users.size === 0 ? undefined : await passwordRefusalOf(request, policy);
  }

  async function passwordRefusalOf(request: IncomingMessage, { users }: WebPolicy): Promise<Refusal | undefined> {
    const credentials = basicCredentials(request.headers.authorization);
    // Browsers ask without a password first, and health checks always do.
    if (!credentials) return refusedFor.credentials;
    const { remoteAddress: from = '' } = request.socket;
    switch (await verdictOn(users, { ...credentials, from })) {
      case 'right':
        return undefined;
      case 'wrong':
        refusals.refused('the user or the password is wrong', from);
        return refusedFor.credentials;
      case 'busy':
        refusals.refused('too many passwords wait to be checked', from);
        return refusedFor.waiting;
      case 'unknown':
        return refusedFor.failure;
    }
  }

  async function verdictOn(users: WebPolicy['users'], attempt: Attempt): Promise<Verdict | 'unknown'> {
    try {
      return await passwords.verdict(users, attempt);
    } catch (error) {
      log.error({ err: error }, 'a password could not be checked');
      return 'unknown';
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, handler: RequestListener): Promise<void> {
    const refusal = await refusalOf(request);
    if (refusal) refuse(response, refusal);
    else if (response.writable) handler(request, response);
  }

  return {
    serve(handler) {
      const { tls } = policy;
      const guarded = createGuardedServer({
        tls: tls && tlsOptions(tls),
        handler(request, response) {
          for (const [name, value] of Object.entries(policy.headers)) response.setHeader(name, value);
          void answer(request, response, handler);
        },
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
        refusals.refused(problem, socket.remoteAddress);
        socket.destroy();
      });
      server.on('tlsClientError', (error, socket: TLSSocket) => {
        const code = errorCode(error);
        // Who leaves in the middle, as probes of a port do, is not worth a line.
        if (code.startsWith('ERR_SSL_')) refusals.refused(`the TLS handshake failed (${code})`, socket.remoteAddress);
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
      bucket = bucketOf(next);
      if (asksAnew(before, next)) for (const guarded of guardedServers) guarded.retireConnections();
    },

    close: () => thread.close(),
  };
}

function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > mostBodyBytes;
}

function bucketOf({ rateLimit }: WebPolicy): TokenBucket | undefined {
  return rateLimit && createTokenBucket({ ...rateLimit, now: steadyNow });
}
