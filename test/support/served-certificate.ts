import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { SimulatedAppliance } from '../../simulator/server.ts';

/** Resolves to the certificate that a listening farm of an appliance presents for a name. */
export async function servedCertificate(
  { farms }: SimulatedAppliance,
  address: string,
  servername: string,
): Promise<X509Certificate> {
  const port = Number(farms?.addresses[address]?.split(':')[1]);
  const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  if (!certificate) throw new Error(`${address} presents no certificate`);
  return certificate;
}
