import { errors } from 'undici';
import { errorCode, toError } from '../lib/check.ts';
import type { FailureReason } from './errors.ts';

const reasonByCode: ReadonlyMap<string, FailureReason> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'oversize'],
  ['UND_ERR_HEADERS_OVERFLOW', 'malformed'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'connect'],
  ['EPROTO', 'tls'],
]);

// Codes of OpenSSL's certificate verification and of Node's TLS layer; UNSPECIFIED is a key or digest that is too weak.
const tlsCode =
  /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERROR_IN_CERT|UNSPECIFIED$)/;

/**
 * The reason behind an error of the transport. `abortedBy` tells a deadline of ours (`timeout`) from a caller that
 * gave up (`cancelled`). What answers but does not speak HTTP is `malformed`.
 */
export function reasonOfTransportError(thrown: unknown, abortedBy: 'deadline' | 'caller' | 'nobody'): FailureReason {
  if (abortedBy === 'deadline') return 'timeout';
  if (abortedBy === 'caller') return 'cancelled';
  const code = errorCode(thrown);
  const known = reasonByCode.get(code);
  if (known) return known;
  if (tlsCode.test(code)) return 'tls';
  return thrown instanceof errors.HTTPParserError ? 'malformed' : 'connect';
}

/** True for a connection that ended under a request: the other side closed it, or a firewall forgot it. */
export function isClosedSocket(thrown: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCode(thrown));
}

/** Node's advice at the end of some messages, for those who start a program with options of Node. */
const adviceOfNode = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** OpenSSL's own message: a thread, a number, its library, its function, the reason, and a line of its sources. */
const messageOfOpenssl = /^[0-9A-F]+:error:[0-9A-F]+:([^:]+):[^:]*:([^:]+):/;

/** What happened, in the words of the platform. */
export function messageOf(thrown: unknown): string {
  const error = toError(thrown);
  const [, library, reason] = messageOfOpenssl.exec(error.message) ?? [];
  if (library && reason) return `${library}: ${reason}`;
  // Node reports a refused dual-stack connect as an aggregate with an empty message.
  return error.message === '' ? errorCode(error) : error.message.replace(adviceOfNode, '');
}

const remedies: Partial<Record<FailureReason, string>> = {
  tls: 'check tls.ca_file, tls.server_name or tls.fingerprint_sha256 (the fingerprint command prints what the appliance shows)',
  timeout: 'the appliance did not answer in time; raise polling.timeout if it is merely slow',
  connect: 'check that the address, the port and the network path are right and that the management service runs',
  oversize: 'raise limits.body_bytes if such a reply is expected',
};

/** What an operator can do about it, to be put after the message; empty when there is nothing to advise. */
export function remedyFor(reason: FailureReason): string {
  const remedy = remedies[reason];
  return remedy ? `; ${remedy}` : '';
}
