import { errors } from 'undici';
import { errorCode, errorMessage, toError } from '../lib/check.ts';
import { ResolveError, resolveRemedy } from '../lib/host-resolver.ts';
import { isTlsError } from '../lib/tls-errors.ts';

/**
 * Every way in which a call to an appliance can fail; also the `reason` label of the error
 * counters.
 */
export const failureReasons = [
  'timeout',
  'connect',
  'tls',
  'bad_request',
  'unauthorized',
  'unlicensed',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unavailable',
  'conflict',
  'gone',
  'server_error',
  'gateway_timeout',
  'malformed',
  'oversize',
  'cancelled',
] as const;

export type FailureReason = (typeof failureReasons)[number];

/**
 * The one error of a failed call. Callers switch on `reason`; the message is for people and holds
 * no secret.
 */
export class ApplianceError extends Error {
  override readonly name = 'ApplianceError';
  readonly reason: FailureReason;
  /** The route template of the call. */
  readonly endpoint: string;
  readonly status: number | undefined;
  /** The code of the error of the system or the library; '' for a response. */
  readonly code: string;
  /**
   * True when the API itself said that the path or object does not exist, not a web server in front
   * of it.
   */
  readonly routeMissing: boolean;

  constructor(
    reason: FailureReason,
    parts: { endpoint: string; message: string; status?: number; code?: string; routeMissing?: boolean },
  ) {
    super(parts.message);
    this.reason = reason;
    this.endpoint = parts.endpoint;
    this.status = parts.status;
    this.code = parts.code ?? '';
    this.routeMissing = parts.routeMissing ?? false;
  }
}

const reasonByStatus: ReadonlyMap<number, FailureReason> = new Map([
  [401, 'unauthorized'],
  [402, 'unlicensed'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [406, 'unavailable'],
  [409, 'conflict'],
  [410, 'gone'],
  [429, 'unavailable'],
  [503, 'unavailable'],
  [504, 'gateway_timeout'],
]);

/**
 * Returns the reason for a status (docs/api.md §1.5). A redirect is `malformed`: the API has none,
 * and following one would send the key to another host.
 */
export function reasonOfStatus(status: number): FailureReason {
  if (status < 400) return 'malformed';
  return reasonByStatus.get(status) ?? (status < 500 ? 'bad_request' : 'server_error');
}

/** Returns true for the failure of a call that got no answer in time, as while a proxy hangs. */
export function isUnanswered(reason: FailureReason | undefined): boolean {
  return reason === 'timeout' || reason === 'gateway_timeout';
}

const reasonByCode: ReadonlyMap<string, FailureReason> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'oversize'],
  ['UND_ERR_HEADERS_OVERFLOW', 'malformed'],
  ['ERR_ANSWER_FRAMING', 'malformed'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'connect'],
]);

/**
 * Returns the reason for a transport error. `abortedBy` tells our deadline (`timeout`) from a
 * caller that gave up (`cancelled`). A response that is not HTTP is `malformed`.
 */
export function reasonOfTransportError(thrown: unknown, abortedBy: 'deadline' | 'caller' | 'nobody'): FailureReason {
  if (abortedBy === 'deadline') return 'timeout';
  if (abortedBy === 'caller') return 'cancelled';
  const known = reasonByCode.get(errorCode(thrown));
  if (known) return known;
  if (isTlsError(thrown)) return 'tls';
  return thrown instanceof errors.HTTPParserError || isInterimAnswer(thrown) ? 'malformed' : 'connect';
}

/** Returns true for a response 100 or 101 that nobody asked for; undici has no code for it. */
function isInterimAnswer(thrown: unknown): boolean {
  return thrown instanceof errors.SocketError && /^bad (upgrade|response)$/.test(thrown.message);
}

/**
 * Returns true if the connection ended during a request: closed by the other side, or dropped by a
 * firewall.
 */
export function isClosedSocket(thrown: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCode(thrown)) && !isInterimAnswer(thrown);
}

/** Returns true if the time limit for a connection was over, TLS handshake included. */
export function neverConnected(thrown: unknown): boolean {
  return errorCode(thrown) === 'UND_ERR_CONNECT_TIMEOUT';
}

/** Returns the platform's message of a transport error, without what only its developers need. */
export function messageOf(thrown: unknown): string {
  if (isInterimAnswer(thrown)) return 'it sent an interim answer, 100 or 101, that nobody asked for';
  return errorMessage(thrown);
}

const remedies: Partial<Record<FailureReason, string>> = {
  tls: 'check tls.ca_file, tls.server_name or tls.fingerprint_sha256 (the fingerprint command prints what the appliance shows)',
  timeout: 'raise polling.timeout if the appliance is merely slow',
  connect: 'check that the address, the port and the network path are right and that the management service runs',
  oversize: 'raise limits.body_bytes if such a reply is expected',
};

/** Returns true for the message about a server whose versions of TLS Node.js does not accept. */
export function isOldTls(message: string): boolean {
  return /protocol version|unsupported protocol/.test(message);
}

export const oldTlsRemedy =
  'it speaks no TLS that is accepted here, 1.2 or newer: update the appliance, or allow newer versions in its web server';

/** Returns true for the message about a certificate whose key or digest OpenSSL does not verify. */
export function isWeakCertificate(message: string): boolean {
  return /(?:key|algorithm) too weak/.test(message);
}

const weakCertificateRemedy =
  'give the appliance a certificate with RSA 2048, ECDSA and SHA-256 or better, or pin this one by tls.fingerprint_sha256';

/**
 * Returns what an operator can do about a failed call, to be appended to the message; '' if there
 * is no advice. `isUsualLimit` is false for a call with a limit other than polling.timeout.
 */
export function remedyFor(reason: FailureReason, thrown: unknown, isUsualLimit = true): string {
  if (thrown instanceof ResolveError) return `; ${resolveRemedy}`;
  const { message } = toError(thrown);
  if (reason === 'tls' && isOldTls(message)) return `; ${oldTlsRemedy}`;
  if (reason === 'tls' && isWeakCertificate(message)) return `; ${weakCertificateRemedy}`;
  // Another limit follows from how long the call usually takes.
  if (reason === 'timeout' && !neverConnected(thrown) && !isUsualLimit) return '';
  const remedy = remedies[neverConnected(thrown) ? 'connect' : reason];
  return remedy ? `; ${remedy}` : '';
}

export function callTimeout(limitMs: number): DOMException {
  return new DOMException(`no complete answer within ${limitMs / 1_000} s`, 'TimeoutError');
}

export function abortedBy({ aborted, reason }: AbortSignal): 'deadline' | 'caller' | 'nobody' {
  if (!aborted) return 'nobody';
  return reason instanceof Error && reason.name === 'TimeoutError' ? 'deadline' : 'caller';
}
