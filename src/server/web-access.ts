import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createSecureContext, Server as TlsServer } from 'node:tls';
import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { WebSettings } from '../config/web-settings.ts';
import { guardHandshakes } from '../lib/handshakes.ts';
import { lifeOf } from '../lib/chain.ts';
import { RestartNeededError } from '../lib/listen.ts';
import type { Prepared } from '../lib/prepared.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { type BcryptThread, createBcryptThread, createPasswordCheck } from './password-check.ts';
import { clientRefusal, requiresReauthentication, webTlsOptions, restartReason } from './web-policy.ts';
import { networkOf } from './connections.ts';
import { createGuardedApp, hasSeveralHosts } from './create-app.ts';
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
  prepare(policy: WebSettings): Prepared;
}

export interface WebAccessOptions {
  readonly policy: WebSettings;
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
const stallTimeoutMs = 120_000;
const closeGraceMs = 1_000;
/** No path takes a body; short ones are ignored. */
export const maxBodyBytes = 1_024;
/** The time that a client may take for each part of a request. */
export const requestMs = 10_000;

export const plainText = 'text/plain; charset=utf-8';
/** Headers of every response; caches must not store it. */
const commonHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;

export function createWebAccess(options: WebAccessOptions): WebAccess {
  const { log, thread = createBcryptThread(), idleTimeoutMs = requestMs } = options;
  const throttledLog = new ThrottledLog(log);
  let { policy } = options;
  let requestTokens = requestTokensOf(policy);
  warnIfInvalid(policy, log);
  const { app, connections } = createGuardedApp({
    tls: policy.tls && webTlsOptions(policy.tls),
    responseTo: ({ status, because }) => ({
      status,
      headers: { ...policy.headers, 'content-type': plainText },
      body: `${because}.\n`,
    }),
    maxConnections,
    requestTimeoutMs: idleTimeoutMs,
    idleTimeoutMs,
    keepAliveMs,
    stallTimeoutMs,
    closeGraceMs,
    handlesUnsupportedRequests: false,
  });
  guardHandshakes(app.server, {
    refusalReason: (socket) => policy.tls && clientRefusal(socket, policy.tls),
    onRefused(because, address) {
      options.onRefused?.();
      throttledLog.logRejected(because, address);
    },
  });
  app.addHook('onClose', () => thread.terminate());
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ ...commonHeaders, ...policy.headers });
    const rejection = requestTokens?.tryTake(everybody) === false ? rejections.rate : rejectionOf(request);
    if (rejection) sendRejection(reply, rejection);
    else done();
  });
  checkPasswords(app, { users: () => policy.users, thread, throttledLog });

  return {
    app,
    prepare(next) {
      const before = policy;
      const reason = restartReason(before, next);
      if (reason !== undefined) throw new RestartNeededError(reason);
      if (next.tls) createSecureContext(webTlsOptions(next.tls));
      return {
        commit() {
          if (next.tls && app.server instanceof TlsServer) app.server.setSecureContext(webTlsOptions(next.tls));
          policy = next;
          if (before.tls?.cert !== next.tls?.cert) warnIfInvalid(next, log);
          requestTokens = requestTokensOf(next);
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
function warnIfInvalid({ tls }: WebSettings, log: Logger): void {
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

/** A response that rejects a request; an error, as @fastify/basic-auth wants it. */
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
function sendRejection(reply: FastifyReply, { statusCode, message, headers }: WebRejection): void {
  void reply
    .code(statusCode)
    .headers({ connection: 'close', ...headers })
    .type(plainText)
    .send(message);
}

interface PasswordOptions {
  readonly users: () => WebSettings['users'];
  readonly thread: BcryptThread;
  readonly throttledLog: ThrottledLog;
}

function checkPasswords(app: FastifyInstance, { users, thread, throttledLog }: PasswordOptions): void {
  const checkPassword = createPasswordCheck(thread);

  async function passwordRejection(user: string, password: string, address: string): Promise<WebRejection | undefined> {
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
    validate: (user, password, { ip }) => passwordRejection(user, password, ip),
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (users().size === 0) {
      done();
      return;
    }
    app.basicAuth(request, reply, (error) => {
      if (!error) done();
      // Not logged without credentials: browsers send none at first, and health checks never do.
      else sendRejection(reply, error instanceof WebRejection ? error : rejections.credentials);
    });
  });
}

/** All clients share one bucket, as in exporter-toolkit. */
const everybody = '';

function requestTokensOf({ rateLimit }: WebSettings): TokenBuckets | undefined {
  return rateLimit && new TokenBuckets({ capacity: rateLimit.burst, tokenMs: rateLimit.intervalMs });
}
