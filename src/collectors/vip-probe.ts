import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { chainOf, isAnchoredLonger, isRoot, issuerNameOf, lifeOf } from '../lib/chain.ts';
import { errorCode } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { partOf } from '../lib/pem.ts';
import { dateToSeconds } from '../appliance/text-date.ts';

/** A destination, and the name to ask for there. */
export interface ProbeRequest {
  readonly address: string;
  readonly port: number;
  /** The name to ask for by TLS, empty for none; undefined for TCP alone. */
  readonly serverName: string | undefined;
  /** Maximum time; default: five seconds. */
  readonly withinMs?: number;
}

export type ProbeFailure = 'refused' | 'timeout' | 'tls';

export interface ProbeResult {
  /** Undefined if this machine could not try. */
  readonly isReachable: boolean | undefined;
  readonly connectSeconds?: number;
  readonly failure?: ProbeFailure;
  /**
   * The certificate of the server, also if the handshake failed after it, as where clients must
   * present one.
   */
  readonly certificate?: ServedCertificate;
}

interface PresentedCertificate {
  readonly commonName: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serial: string;
  /** Lower-case hexadecimal. */
  readonly fingerprintSha256: string;
  /** Unix seconds; undefined for a date that makes no sense. */
  readonly notBeforeSeconds: number | undefined;
  readonly notAfterSeconds: number | undefined;
}

export interface ServedCertificate extends PresentedCertificate {
  /** True if an alternative name covers the server name (RFC 9525); undefined without one. */
  readonly coversName: boolean | undefined;
  /** The intermediates below the root or trust anchor, as far as they were presented. */
  readonly intermediates: readonly PresentedCertificate[];
}

/** Returns the earliest end in the chain as served, in Unix seconds. */
export function chainEndOf({ notAfterSeconds, intermediates }: ServedCertificate): number | undefined {
  if (notAfterSeconds === undefined) return undefined;
  return Math.min(notAfterSeconds, ...intermediates.flatMap((each) => each.notAfterSeconds ?? []));
}

/** Codes of failures of this machine, not of the network or the server. */
const ownFailures = ['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL', 'EPERM', 'EACCES'];

/**
 * Connects once, for a limited time, and sends nothing but a TLS handshake. Rejects only when
 * `signal` aborts.
 */
export async function probeVip(request: ProbeRequest, signal: AbortSignal): Promise<ProbeResult> {
  signal.throwIfAborted();
  const { address: host, port, serverName, withinMs = 5_000 } = request;
  const startSteadyMs = steadyNow();
  const socket = serverName === undefined ? connectTcp({ host, port }) : handshake(host, port, serverName);
  // An error after the end of the probe has no other listener.
  socket.on('error', () => undefined);
  const timedOut = new Error('no answer in time');
  const timer = setTimeout(() => socket.destroy(timedOut), withinMs);
  const cut = (): void => void socket.destroy(timedOut);
  signal.addEventListener('abort', cut, { once: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let connectSeconds: number | undefined;
  let presented: X509Certificate | undefined;
  // Comes once the server has presented its certificate, and before it judges that of the client.
  // Node has the certificate of a handshake at one time only, and returns it once.
  socket.on('keylog', () => (presented ??= (socket as TLSSocket).getPeerX509Certificate()));
  const presentedCertificate = (): Pick<ProbeResult, 'certificate'> => {
    const certificate = presented && toServedCertificate(presented, serverName ?? '');
    return certificate ? { certificate } : {};
  };
  try {
    await once(socket, 'connect');
    connectSeconds = (steadyNow() - startSteadyMs) / 1_000;
    if (serverName === undefined) return { isReachable: true, connectSeconds };
    await once(socket, 'secureConnect');
    const { certificate } = presentedCertificate();
    return { isReachable: true, connectSeconds, ...(certificate ? { certificate } : { failure: 'tls' }) };
  } catch (error) {
    signal.throwIfAborted();
    if (connectSeconds !== undefined)
      return {
        isReachable: true,
        connectSeconds,
        failure: error === timedOut ? 'timeout' : 'tls',
        ...presentedCertificate(),
      };
    if (ownFailures.includes(errorCode(error))) return { isReachable: undefined };
    const isLate = error === timedOut || errorCode(error) === 'ETIMEDOUT';
    return { isReachable: false, failure: isLate ? 'timeout' : 'refused' };
  } finally {
    // Sends the end of the handshake, or the farm would log a failed one each minute.
    socket.destroySoon();
    await closed;
    clearTimeout(timer);
    signal.removeEventListener('abort', cut);
  }
}

/** Accepts any certificate: the probe says what is served, and sends nothing. */
function handshake(host: string, port: number, servername: string): TLSSocket {
  return connectTls({
    host,
    port,
    ...(servername && { servername }),
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
}

/** Returns undefined for a certificate that Node cannot read. */
function toServedCertificate(certificate: X509Certificate, serverName: string): ServedCertificate | undefined {
  try {
    return {
      ...toPresentedCertificate(certificate),
      coversName: serverName === '' ? undefined : Boolean(certificate.checkHost(serverName, { subject: 'never' })),
      intermediates: intermediatesOf(certificate).map(toPresentedCertificate),
    };
  } catch {
    return undefined;
  }
}

function toPresentedCertificate(certificate: X509Certificate): PresentedCertificate {
  const { subject, serialNumber, fingerprint256, validFrom, validTo } = certificate;
  return {
    commonName: partOf(subject, 'CN') ?? '',
    issuer: issuerNameOf(certificate),
    serial: serialNumber.toLowerCase(),
    fingerprintSha256: fingerprint256.replaceAll(':', '').toLowerCase(),
    notBeforeSeconds: dateToSeconds(validFrom),
    notAfterSeconds: dateToSeconds(validTo),
  };
}

/**
 * Finds the issuer of each certificate among those presented, in any order (RFC 8446, 4.4.2), as
 * clients do. A root that is presented counts for nothing, nor does anything from the first trust
 * anchor on: clients have their own.
 */
function intermediatesOf(leaf: X509Certificate): readonly X509Certificate[] {
  const presented: X509Certificate[] = [];
  for (let next = leaf.issuerCertificate; next; next = next.issuerCertificate) presented.push(next);
  const path = chainOf(leaf, presented, Date.now()).filter((each) => !isRoot(each));
  const anchor = path.findIndex((each) => lifeOf(each).endsAtMs < lifeOf(leaf).endsAtMs && isAnchoredLonger(each));
  return anchor === -1 ? path : path.slice(0, anchor);
}
