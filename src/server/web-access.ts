import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createSecureContext, Server as TlsServer } from 'node:tls';
import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { guardHandshakes } from '../lib/handshakes.ts';
import { lifeOf } from '../lib/chain.ts';
import { RestartNeededError } from '../lib/listen.ts';
import type { Prepared } from '../lib/prepared.ts';
import { steadyNow } from '../lib/time.ts';
import { type BcryptThread, createBcryptThread, createPasswordCheck } from './password-check.ts';
import { clientProblem, requiresReauthentication, tlsOptions, webChangeProblem, type WebPolicy } from './web-policy.ts';
import { networkOf, type RawResponse } from './connections.ts';
import { createGuardedApp, maxHeaderSize } from './create-app.ts';
import { hasSeveralHosts } from './request-line.ts';
import { ThrottledLog } from '../lib/throttled-log.ts';

/**
 * Controls access to the metrics listener: TLS, client certificates, passwords and limits, before
 * every path.
 */
export interface WebAccess {
  /** Its routes get accepted requests only. */
  readonly app: FastifyInstance;
  /**
   * Prepares another policy, for new connections and requests at once. Throws a RestartNeededError
   * for one that needs a restart, and OpenSSL's error for a certificate that it refuses.
   */
  prepare(policy: WebPolicy): Prepared;
}

export interface WebAccessParts {
  readonly policy: WebPolicy;
  readonly log: Logger;
  /** Called for each client whose certificate or handshake is refused. */
  readonly onRefused?: () => void;
  /** Compares passwords; closed with the app. */
  readonly thread?: BcryptThread;
  /** The time that a client may take to send a request. */
  readonly idleTimeoutMs?: number;
}

export const maxConnections = 512;
/**
 * Longer than a usual scrape interval, so that a connection is not closed just as the next scrape
 * uses it.
 */
const keepAliveMs = 75_000;
/** Longer than `keepAliveMs`, which it would otherwise cut short. */
const stalledMs = 120_000;
const closeGraceMs = 1_000;
/** No path takes a body; short ones are ignored. */
export const maxBodyBytes = 1_024;
/** The time that a client may take for each part of a request, unless a test says otherwise. */
export const requestMs = 10_000;

export const plainText = 'text/plain; charset=utf-8';
/** Headers of every response; caches must not store it. */
const commonHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;

export function createWebAccess(parts: WebAccessParts): WebAccess {
  const { log, thread = createBcryptThread(), idleTimeoutMs = requestMs } = parts;
  const throttledLog = new ThrottledLog(log);
  let { policy } = parts;
  let takeToken = createTokenBucket(policy);
  warnIfInvalid(policy, log);
  const { app, connections } = createGuardedApp({
    tls: policy.tls && tlsOptions(policy.tls),
    responseTo: (code) => ({
      ...(malformedRequests[code] ?? malformedRequest),
      headers: { ...policy.headers, 'content-type': plainText },
    }),
    maxConnections,
    requestTimeoutMs: idleTimeoutMs,
    idleTimeoutMs,
    keepAliveMs,
    stalledMs,
    closeGraceMs,
    handlesUnsupportedRequests: false,
  });
  guardHandshakes(app.server, {
    problemOf: (socket) => policy.tls && clientProblem(socket, policy.tls),
    onRefused(because, address) {
      parts.onRefused?.();
      throttledLog.logRejected(because, address);
    },
  });
  app.addHook('onClose', () => thread.close());
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ ...commonHeaders, ...policy.headers });
    const rejection = takeToken() ? rejectionOf(request) : rejections.rate;
    if (rejection) reject(reply, rejection);
    else done();
  });
  checkPasswords(app, { users: () => policy.users, thread, throttledLog });

  return {
    app,
    prepare(next) {
      const before = policy;
      const problem = webChangeProblem(before, next);
      if (problem !== undefined) throw new RestartNeededError(problem);
      if (next.tls) createSecureContext(tlsOptions(next.tls));
      return {
        commit() {
          if (next.tls && app.server instanceof TlsServer) app.server.setSecureContext(tlsOptions(next.tls));
          policy = next;
          if (before.tls?.cert !== next.tls?.cert) warnIfInvalid(next, log);
          takeToken = createTokenBucket(next);
          if (requiresReauthentication(before, next)) connections.retire();
        },
      };
    },
  };
}

/**
 * Warns only: an exporter that did not start would also hide its metrics from clients that do not
 * check the date.
 */
function warnIfInvalid({ tls }: WebPolicy, log: Logger): void {
  if (!tls) return;
  const { startsAtMs, endsAtMs } = lifeOf(new X509Certificate(tls.cert));
  const nowMs = Date.now();
  const rest = 'clients that check it do not connect';
  if (endsAtMs <= nowMs)
    log.warn(
      { notAfter: new Date(endsAtMs).toISOString() },
      `the certificate of the metrics listener has expired; ${rest}`,
    );
  if (startsAtMs > nowMs)
    log.warn(
      { notBefore: new Date(startsAtMs).toISOString() },
      `the certificate of the metrics listener is not valid yet; until then ${rest}`,
    );
}

/** The response to a request that is not accepted, as an error for @fastify/basic-auth. */
class WebRejection extends Error {
  override readonly name = 'WebRejection';
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

const rejections = {
  rate: new WebRejection(429, 'Too many requests; rate_limit in the web configuration allows no more for now.\n'),
  hosts: new WebRejection(400, 'The header Host came more than once; send it once.\n'),
  body: new WebRejection(413, `No request here takes a body beyond ${maxBodyBytes} bytes.\n`),
  credentials: new WebRejection(401, 'Send the user and the password of the web configuration.\n'),
  waiting: new WebRejection(503, 'Too many passwords wait to be checked; try again in a moment.\n', {
    'retry-after': '1',
  }),
  failure: new WebRejection(500, 'Internal error, see the log.\n'),
};

/** Returns the reason for which a request is rejected for any client. */
function rejectionOf({ raw, headers }: FastifyRequest): WebRejection | undefined {
  if (hasSeveralHosts(raw)) return rejections.hosts;
  return hasLongBody(headers) ? rejections.body : undefined;
}

function hasLongBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxBodyBytes;
}

/**
 * Sends the response and closes the connection: the rest of a body must not be parsed as a request.
 */
function reject(reply: FastifyReply, { statusCode, message, headers }: WebRejection): void {
  void reply
    .code(statusCode)
    .headers({ connection: 'close', ...headers })
    .type(plainText)
    .send(message);
}

interface PasswordParts {
  readonly users: () => WebPolicy['users'];
  readonly thread: Pick<BcryptThread, 'compare'>;
  readonly throttledLog: ThrottledLog;
}

function checkPasswords(app: FastifyInstance, { users, thread, throttledLog }: PasswordParts): void {
  const checkPassword = createPasswordCheck((password, hash) => thread.compare(password, hash));

  async function problemOf(user: string, password: string, address: string): Promise<WebRejection | undefined> {
    try {
      switch (await checkPassword(users(), { user, password, from: networkOf(address) })) {
        case 'right':
          return undefined;
        case 'wrong':
          throttledLog.logRejected('the user or the password is wrong', address);
          return rejections.credentials;
        case 'busy':
          throttledLog.logRejected('too many passwords wait to be checked', address);
          return rejections.waiting;
      }
    } catch (error) {
      throttledLog.write('error', { err: error }, 'a password could not be checked');
      return rejections.failure;
    }
  }

  void app.register(basicAuth, {
    authenticate: { realm: 'zlb-exporter' },
    strictCredentials: false,
    validate: (user, password, { ip }) => problemOf(user, password, ip),
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (users().size === 0) {
      done();
      return;
    }
    app.basicAuth(request, reply, (error) => {
      if (!error) done();
      // Not logged without credentials: browsers first ask so, and health checks always do.
      else reject(reply, error instanceof WebRejection ? error : rejections.credentials);
    });
  });
}

/**
 * Returns a function that takes a token, and returns false when none is left. There are up to
 * `burst` tokens, and one more each interval, as in exporter-toolkit.
 */
function createTokenBucket({ rateLimit }: WebPolicy): () => boolean {
  if (!rateLimit) return () => true;
  const { intervalMs, burst } = rateLimit;
  let tokens = burst;
  let filledAtMs = steadyNow();
  return () => {
    const nowMs = steadyNow();
    tokens = Math.min(burst, tokens + (nowMs - filledAtMs) / intervalMs);
    filledAtMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

const malformedRequests: Readonly<Record<string, Pick<RawResponse, 'status' | 'body'>>> = {
  HPE_HEADER_OVERFLOW: { status: 431, body: `The headers are longer than ${maxHeaderSize} bytes.\n` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, body: 'The request did not arrive in time.\n' },
};
const malformedRequest = { status: 400, body: 'This is not a valid HTTP request.\n' };
