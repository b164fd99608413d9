import { errorCode, toError } from './check.ts';

// Codes of OpenSSL's certificate verification and of Node's TLS layer; UNSPECIFIED is a key or
// digest that is too weak.
const tlsCode =
  /^(EPROTO$|ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERROR_IN_CERT|UNSPECIFIED$)/;

/** Returns true for an error of TLS: of its handshake, or of a certificate. */
export function isTlsError(error: unknown): boolean {
  return tlsCode.test(errorCode(error));
}

/** Returns true for OpenSSL's errors about a response in another protocol, which `https` gives without their codes. */
export function speaksNoTls(error: unknown): boolean {
  return (
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL)$/.test(errorCode(error)) ||
    (errorCode(error) === 'EPROTO' &&
      /:(?:wrong version number|packet length too long|unknown protocol):/.test(toError(error).message))
  );
}
