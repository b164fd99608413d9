import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { isOldTls, messageOf, oldTlsRemedy } from '../appliance/errors.ts';
import { dayOf } from '../lib/time.ts';
import { issuerNameOf, lifeOf } from '../lib/chain.ts';
import { lookupBy, maxResolveMs, ResolveError, resolveRemedy, HostResolver } from '../lib/host-resolver.ts';
import { shownNameOf } from '../lib/pem.ts';
import { oneLine } from '../lib/text.ts';
import { type Command, UsageError } from './command.ts';

const defaultPort = 444;

/** Prints the SHA-256 fingerprint of a server's certificate, to be pinned after a comparison. */
export const fingerprint: Command = async ({ arguments: words, stopped, now, printOut, printErr }) => {
  const { host, port } = parseServer('fingerprint', words);
  try {
    const shown = await readShownCertificate({ host, port, resolver: new HostResolver(), signal: stopped });
    const { fingerprintSha256 } = shown;
    printOut(fingerprintSha256);
    printErr(`${shownText({ host, port }, shown, now())}.`);
    printErr('As openssl prints the fingerprint:');
    printErr(`  sha256 Fingerprint=${colonHex(fingerprintSha256)}`);
    printErr('Compare it with what this prints on the appliance itself:');
    printErr(`  ${ownFingerprintCommand(port)}`);
    printErr('Then write it as tls.fingerprint_sha256, in either spelling.');
    return 0;
  } catch (error) {
    printErr(`${noCertificateText({ host, port }, error)}.`);
    return 1;
  }
};

/** Returns a sentence about the certificate of a server, without a full stop. */
export function shownText(
  { host, port }: TlsTarget,
  { subject, endsAtMs }: Pick<ShownCertificate, 'subject' | 'endsAtMs'>,
  nowMs: number,
): string {
  return `${host}:${port} shows a certificate for ${subject}, valid to ${dayOf(endsAtMs)}${endsAtMs <= nowMs ? ': it has EXPIRED' : ''}`;
}

/** Returns why a server showed no certificate and what to do, without a full stop. */
export function noCertificateText({ host, port }: TlsTarget, error: unknown): string {
  const message = messageOf(error);
  const remedy =
    error instanceof ResolveError
      ? resolveRemedy
      : isOldTls(message)
        ? oldTlsRemedy
        : 'check the address, and that the port is that of the web interface (usually 444)';
  return `${host}:${port} showed no certificate: ${message}; ${remedy}`;
}

/** Returns `AB:CD:…`, which people compare more easily than 64 digits in a row. */
export function colonHex(digits: string): string {
  return digits.toUpperCase().replaceAll(/..(?=.)/g, '$&:');
}

/**
 * Returns the command that prints the fingerprint on the appliance itself, where nobody is in
 * between. From outside, another port may lead to that of its web interface.
 */
export function ownFingerprintCommand(port: number): string {
  const note =
    port === defaultPort ? '' : `    # if ${port} leads to another port of it: that one, usually ${defaultPort}`;
  return `openssl s_client -connect 127.0.0.1:${port} </dev/null | openssl x509 -noout -fingerprint -sha256${note}`;
}

export interface TlsTarget {
  readonly host: string;
  readonly port: number;
}

/** Parses the one argument HOST[:PORT] of a command. */
export function parseServer(command: string, [target = '', ...more]: readonly string[]): TlsTarget {
  const match = /^(?:https:\/\/)?(?:\[([^\]]+)\]|([^:/]+))(?::(\d{1,5}))?\/?$/.exec(target);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? defaultPort);
  if (target === '' || more.length > 0) throw new UsageError(`name one server: zlb-exporter ${command} HOST[:PORT]`);
  if (!host || port > 65_535)
    throw new UsageError(
      'the address must be HOST or HOST:PORT, such as 192.0.2.10:444 or [2001:db8::10]:444; the port is a number up to 65535',
    );
  return { host, port };
}

export interface ShownCertificate {
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
  /** The common name, or else the first alternative one; without control characters. */
  readonly subject: string;
  /** The same as `subject` for a certificate that signed itself. */
  readonly issuer: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

interface ShownOptions extends TlsTarget {
  /** The server name (SNI); default: the host. */
  readonly serverName?: string | undefined;
  readonly resolver: HostResolver;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;

/**
 * Reads the certificate of a server without a check. Sends nothing but the handshake, so an
 * untrusted server learns nothing.
 */
export async function readShownCertificate(options: ShownOptions): Promise<ShownCertificate> {
  const socket = await handshake(options);
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  if (!certificate) throw new Error('it has none');
  const subject = oneLine(shownNameOf(certificate) ?? '', 128) || 'nobody';
  const isOwnIssuer = certificate.checkIssued(certificate);
  return {
    fingerprintSha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    subject,
    issuer: isOwnIssuer ? subject : issuerNameOf(certificate) || 'nobody',
    ...lifeOf(certificate),
  };
}

async function handshake({ host, port, serverName, resolver, signal }: ShownOptions): Promise<TLSSocket> {
  const servername = serverName ?? (isIP(host) ? undefined : host);
  const socket = connect({
    host,
    port,
    ...(servername === undefined ? {} : { servername }),
    rejectUnauthorized: false,
    lookup: lookupBy((name) => resolver.resolve(name, maxResolveMs)),
    timeout: timeoutMs,
  });
  signal.addEventListener('abort', () => socket.destroy(new Error('stopped')), { once: true });
  socket.once('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
  await once(socket, 'secureConnect');
  return socket;
}
