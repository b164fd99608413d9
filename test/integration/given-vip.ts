import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type CertificateParts, createCertificate } from '../../simulator/certificate.ts';
import { byFile, byName, createWorld, enterprise } from '../../simulator/world-creation.ts';
import { certificate, httpBackend, httpFarm, service } from '../../simulator/world-parts.ts';
import type { HttpFarm } from '../../simulator/world-farms.ts';

const dayMs = 86_400_000;
/** Certificates have whole seconds. */
export const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
export const lists = ['farms', 'certificates', 'farm_config'];
export const loopback = { networks: ['127.0.0.0/8'] };

/** A server on a port, and how many connections it had. */
export async function listening(server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  const seen = { port: 0, connections: 0 };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    seen.connections += 1;
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  seen.port = (server.address() as AddressInfo).port;
  return seen;
}

export const times = { notBefore: nowMs - 30 * dayMs, notAfter: nowMs + 60 * dayMs };

export function givenTls(parts: Partial<CertificateParts> = {}, host?: string) {
  const { key, cert } = createCertificate({
    subject: { CN: 'shop.test' },
    notBefore: new Date(times.notBefore),
    notAfter: new Date(times.notAfter),
    altNames: ['DNS:shop.test'],
    ...parts,
  });
  return listening(
    createTlsServer({ key, cert }).on('tlsClientError', () => undefined),
    host,
  );
}

export function httpsFarm(port: number, parts: Partial<HttpFarm> = {}): HttpFarm {
  return httpFarm({
    name: 'shop',
    vip: '127.0.0.1',
    vport: String(port),
    listener: 'https',
    certificates: ['shop_test.pem'],
    services: [service('main', { backends: [httpBackend(0, '10.0.0.1', 80)] })],
    ...parts,
  });
}

export function worldOf(...farms: HttpFarm[]) {
  return createWorld({
    ...enterprise('lb-test', nowMs),
    certificates: byFile([certificate('shop_test.pem', times)]),
    farms: byName(farms),
  });
}
