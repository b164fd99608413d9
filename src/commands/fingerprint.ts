import { connect, type TLSSocket } from 'node:tls';
import { fingerprintOf } from '../appliance/connection.ts';
import { toError } from '../lib/check.ts';
import { oneLine } from '../lib/one-line.ts';
import { type Command, UsageError } from './command.ts';

const defaultPort = 444;
const timeoutMs = 10_000;

/** Prints the SHA-256 fingerprint of the certificate that a server shows, to be pinned after comparing it by another way. */
export const fingerprint: Command = async ({ arguments: [target, ...more], stopped, say, warn }) => {
  const { host, port } = parseTarget(target, more);
  try {
    const socket = await handshake(host, port, stopped);
    const { subject, valid_to: validTo } = socket.getPeerCertificate();
    const seen = fingerprintOf(socket);
    socket.destroy();
    say(seen);
    const names = oneLine([subject.CN].flat().join(', '), 128) || 'nobody';
    warn(`${host}:${port} shows a certificate for ${names}, valid to ${validTo}.`);
    warn('Compare the fingerprint with the one on the appliance itself, then write it as tls.fingerprint_sha256.');
    return 0;
  } catch (error) {
    warn(
      `${host}:${port} showed no certificate: ${toError(error).message || 'the connection failed'}. Check the address and the port.`,
    );
    return 1;
  }
};

function parseTarget(
  target: string | undefined,
  more: readonly string[],
): { readonly host: string; readonly port: number } {
  const match = /^(?:https:\/\/)?(?:\[([^\]]+)\]|([^:/]+))(?::(\d{1,5}))?\/?$/.exec(target ?? '');
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? defaultPort);
  if (!host || port > 65_535 || more.length > 0)
    throw new UsageError('name one server: zlb-exporter fingerprint HOST[:PORT]');
  return { host, port };
}

function handshake(host: string, port: number, stopped: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // Nothing is sent over this connection, so that an unverified certificate can do no harm.
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: timeoutMs });
    stopped.addEventListener('abort', () => socket.destroy(new Error('stopped')), { once: true });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    socket.once('error', reject);
  });
}
