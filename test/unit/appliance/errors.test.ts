import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  type FailureReason,
  isClosedSocket,
  messageOf,
  reasonOfStatus,
  reasonOfTransportError,
} from '../../../src/appliance/errors.ts';

const withCode = (code: string, message = 'what the platform says') => Object.assign(new Error(message), { code });

it.each<[reason: FailureReason, statuses: readonly number[]]>([
  ['malformed', [201, 204, 301, 302, 307]],
  ['bad_request', [411, 415, 418]],
  ['unavailable', [429, 503]],
  ['server_error', [501, 502, 599]],
])('the reason of a status is %s for %j, which the API document does not list', (reason, statuses) => {
  expect(statuses.map(reasonOfStatus)).toEqual(statuses.map(() => reason));
});

describe('the reason of a transport error', () => {
  it.each<[reason: FailureReason, codes: readonly string[]]>([
    [
      'connect',
      [
        ...'ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN EPIPE'.split(' '),
        ...'UND_ERR_SOCKET UND_ERR_RES_CONTENT_LENGTH_MISMATCH constructor'.split(' '),
        '',
      ],
    ],
    ['timeout', 'UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT ETIMEDOUT'.split(' ')],
    ['oversize', 'UND_ERR_RES_EXCEEDED_MAX_SIZE'.split(' ')],
    ['malformed', 'UND_ERR_HEADERS_OVERFLOW'.split(' ')],
    [
      'tls',
      [
        ...'EPROTO ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'.split(' '),
        ...'ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_FINGERPRINT_MISMATCH CERT_HAS_EXPIRED'.split(' '),
        ...'CERT_NOT_YET_VALID CERT_REVOKED CERT_SIGNATURE_FAILURE CRL_HAS_EXPIRED'.split(' '),
        ...'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN'.split(' '),
        ...'UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE INVALID_CA'.split(' '),
        ...'INVALID_PURPOSE PATH_LENGTH_EXCEEDED HOSTNAME_MISMATCH'.split(' '),
        ...'ERROR_IN_CERT_NOT_AFTER_FIELD UNSPECIFIED'.split(' '),
      ],
    ],
  ])('is %s for the codes %j', (reason, codes) => {
    expect(codes.map((code) => reasonOfTransportError(withCode(code), 'nobody'))).toEqual(codes.map(() => reason));
  });

  it('is malformed for a server that does not speak HTTP', () => {
    expect(reasonOfTransportError(new errors.HTTPParserError('Expected HTTP/'), 'nobody')).toBe('malformed');
  });

  it('follows the cause of the abort, not the error', () => {
    const error = withCode('ECONNRESET');

    expect(reasonOfTransportError(error, 'deadline')).toBe('timeout');
    expect(reasonOfTransportError(error, 'caller')).toBe('cancelled');
  });

  it('is found for thrown values that are not errors', () => {
    expect(reasonOfTransportError('gone', 'nobody')).toBe('connect');
    expect(reasonOfTransportError(null, 'nobody')).toBe('connect');
    expect(messageOf('gone')).toBe('gone');
  });
});

it.each([
  ['the code where the platform has no message', 'ECONNREFUSED', '', 'ECONNREFUSED'],
  [
    'without advice about Node.js options',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    'unable to verify the first certificate',
  ],
  [
    'without source lines of OpenSSL',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    '40ADA7ABEC7F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/openssl/ssl/record/methods/tlsany_meth.c:77:\n',
    'SSL routines: wrong version number',
  ],
  [
    'without source lines of OpenSSL, where Node.js puts the failed call before them',
    'EPROTO',
    'write EPROTO 40ADA7ABEC7F0000:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:916:SSL alert number 40\n',
    'SSL routines: ssl/tls alert handshake failure',
  ],
])('the message of a failure is %s', (_, code, message, words) => {
  expect(messageOf(withCode(code, message))).toBe(words);
});

describe('a connection that closed during a request', () => {
  it.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])('is recognised by %s', (code) => {
    expect(isClosedSocket(withCode(code))).toBe(true);
  });

  it.each(['ECONNREFUSED', 'UND_ERR_DESTROYED', 'UND_ERR_HEADERS_TIMEOUT', ''])('is not recognised by %s', (code) => {
    expect(isClosedSocket(withCode(code))).toBe(false);
  });
});
