import type { IncomingMessage } from 'node:http';
import { steadyNow } from '../lib/steady-now.ts';
import type { BcryptThread } from './bcrypt-thread.ts';
import { hasSeveralHosts } from './guarded-server.ts';
import { networkOf } from './network-limit.ts';
import { createPasswordCheck, type Credentials, type LoginAttempt, type PasswordResult } from './password-check.ts';
import type { ThrottledLog } from './throttled-log.ts';
import type { WebPolicy } from './web-policy.ts';
import { maxBodyBytes, rejections, type WebRejection } from './web-rejection.ts';

/** Decides about requests to the metrics listener: rate, form, and password. */
export interface WebAuthorization {
  /** Returns why a request is rejected whoever sends it; takes one token of the rate limit. */
  rejectionOf(request: IncomingMessage): WebRejection | undefined;
  /** Returns why the user and the password of a request are rejected. Never rejects. */
  passwordRejectionOf(request: IncomingMessage, users: WebPolicy['users']): Promise<WebRejection | undefined>;
  /** Replaces the rate limit by that of `policy`, with all of its tokens. */
  update(policy: WebPolicy): void;
}

export interface WebAuthorizationParts {
  readonly policy: WebPolicy;
  readonly thread: Pick<BcryptThread, 'compare'>;
  readonly throttledLog: ThrottledLog;
}

export function createWebAuthorization({ policy, thread, throttledLog }: WebAuthorizationParts): WebAuthorization {
  const passwords = createPasswordCheck({ compare: (password, hash) => thread.compare(password, hash) });
  let bucket = bucketOf(policy);

  async function resultOf(users: WebPolicy['users'], attempt: LoginAttempt): Promise<PasswordResult | 'unknown'> {
    try {
      return await passwords.check(users, attempt);
    } catch (error) {
      throttledLog.write('error', { err: error }, 'a password could not be checked');
      return 'unknown';
    }
  }

  return {
    rejectionOf(request) {
      if (bucket?.take() === false) return rejections.rate;
      if (hasSeveralHosts(request)) return rejections.hosts;
      return hasLongBody(request) ? rejections.body : undefined;
    },

    async passwordRejectionOf(request, users) {
      const credentials = basicCredentials(request.headers.authorization);
      // Not logged: browsers first ask without a password, and health checks always do.
      if (!credentials) return rejections.credentials;
      const { remoteAddress: address } = request.socket;
      switch (await resultOf(users, { ...credentials, from: networkOf(address) })) {
        case 'right':
          return undefined;
        case 'wrong':
          logRejected(throttledLog, 'the user or the password is wrong', address);
          return rejections.credentials;
        case 'busy':
          logRejected(throttledLog, 'too many passwords wait to be checked', address);
          return rejections.waiting;
        case 'unknown':
          return rejections.failure;
      }
    },

    update(next) {
      bucket = bucketOf(next);
    },
  };
}

/** Logs a client that was turned away; `because` is one of a few fixed texts. */
export function logRejected(throttledLog: ThrottledLog, because: string, address: string | undefined): void {
  throttledLog.write('warn', { address, because }, 'not let in');
}

function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxBodyBytes;
}

/** Returns user and password of an Authorization header (RFC 7617); undefined without them. */
function basicCredentials(authorization: string | undefined): Credentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Holds up to `burst` tokens and gains one each interval. */
interface TokenBucket {
  /** Returns false when no token is left. */
  take(): boolean;
}

function bucketOf({ rateLimit }: WebPolicy): TokenBucket | undefined {
  if (!rateLimit) return undefined;
  const { intervalMs, burst } = rateLimit;
  let tokens = burst;
  let filledAtMs = steadyNow();
  return {
    take() {
      const nowMs = steadyNow();
      tokens = Math.min(burst, tokens + (nowMs - filledAtMs) / intervalMs);
      filledAtMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
