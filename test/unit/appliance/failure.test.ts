import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  type FailureReason,
  failureReasons,
  isClosedSocket,
  messageOf,
  reasonOfStatus,
  reasonOfTransportError,
  remedyFor,
} from '../../../src/appliance/errors.ts';
import { documentStatuses } from '../../support/api-document.ts';

const withCode = (code: string, message = 'what the platform says') => Object.assign(new Error(message), { code });

describe('the reason behind a status', () => {
  it.each(documentStatuses)('%i of the API document is %s', (status, reason) => {
    expect(reasonOfStatus(status)).toBe(reason);
  });

  it.each<[status: number, reason: FailureReason]>([
    [201, 'malformed'],
    [204, 'malformed'],
    [301, 'malformed'],
    [302, 'malformed'],
    [307, 'malformed'],
    [411, 'bad_request'],
    [415, 'bad_request'],
    [418, 'bad_request'],
    [429, 'unavailable'],
    [501, 'server_error'],
    [502, 'server_error'],
    [503, 'unavailable'],
    [599, 'server_error'],
  ])('%i, which the document does not have, is %s', (status, reason) => {
    expect(reasonOfStatus(status)).toBe(reason);
  });
});

describe('the reason behind an error of the transport', () => {
  it.each<[code: string, reason: FailureReason]>([
    ['ECONNREFUSED', 'connect'],
    ['ECONNRESET', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ENETUNREACH', 'connect'],
    ['ENOTFOUND', 'connect'],
    ['EAI_AGAIN', 'connect'],
    ['EPIPE', 'connect'],
    ['UND_ERR_SOCKET', 'connect'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'oversize'],
    ['UND_ERR_HEADERS_OVERFLOW', 'malformed'],
    ['EPROTO', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_TLS_FINGERPRINT_MISMATCH', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['CERT_NOT_YET_VALID', 'tls'],
    ['CERT_REVOKED', 'tls'],
    ['CERT_SIGNATURE_FAILURE', 'tls'],
    ['CRL_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['INVALID_CA', 'tls'],
    ['INVALID_PURPOSE', 'tls'],
    ['PATH_LENGTH_EXCEEDED', 'tls'],
    ['HOSTNAME_MISMATCH', 'tls'],
    ['ERROR_IN_CERT_NOT_AFTER_FIELD', 'tls'],
    ['UNSPECIFIED', 'tls'],
    ['', 'connect'],
    ['constructor', 'connect'],
  ])('with the code %s is %s', (code, reason) => {
    expect(reasonOfTransportError(withCode(code), 'nobody')).toBe(reason);
  });

  it('is malformed for a server that does not speak HTTP', () => {
    expect(reasonOfTransportError(new errors.HTTPParserError('Expected HTTP/'), 'nobody')).toBe('malformed');
  });

  it('is the cause of the abort, not that of the error', () => {
    const error = withCode('ECONNRESET');

    expect(reasonOfTransportError(error, 'deadline')).toBe('timeout');
    expect(reasonOfTransportError(error, 'caller')).toBe('cancelled');
  });

  it('is found for thrown values that are no errors', () => {
    expect(reasonOfTransportError('gone', 'nobody')).toBe('connect');
    expect(reasonOfTransportError(null, 'nobody')).toBe('connect');
  });
});

describe('the words of a failure', () => {
  it('are the code where the platform has no message, as for a host with two addresses that both refuse', () => {
    expect(messageOf(withCode('ECONNREFUSED', ''))).toBe('ECONNREFUSED');
    expect(messageOf('gone')).toBe('gone');
  });

  it('have no advice about Node.js options', () => {
    const error = withCode(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    );

    expect(messageOf(error)).toBe('unable to verify the first certificate');
  });

  it('have no source lines of OpenSSL', () => {
    const error = withCode(
      'ERR_SSL_WRONG_VERSION_NUMBER',
      '40ADA7ABEC7F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/openssl/ssl/record/methods/tlsany_meth.c:77:\n',
    );

    expect(messageOf(error)).toBe('SSL routines: wrong version number');
  });

  it.each(failureReasons)('for %s have advice or none, never an empty remedy', (reason) => {
    expect(remedyFor(reason)).toMatch(/^(?:; \w.+)?$/);
  });
});

describe('a connection that ended under a request', () => {
  it.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])('shows as %s', (code) => {
    expect(isClosedSocket(withCode(code))).toBe(true);
  });

  it.each(['ECONNREFUSED', 'UND_ERR_DESTROYED', 'UND_ERR_HEADERS_TIMEOUT', ''])('does not show as %s', (code) => {
    expect(isClosedSocket(withCode(code))).toBe(false);
  });
});
