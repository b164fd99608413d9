import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:tls';
import type { SimulatedAppliance } from '../../simulator/server.ts';

/** The key of root on the simulated appliances of these tests. */
export const simulatedKey = 'canary-key';

/** Starts, stops or restarts a farm by the API of its appliance; rejects if that refuses. */
export async function actOnFarm(
  { url, certificatePem }: SimulatedAppliance,
  farm: string,
  action: 'start' | 'stop' | 'restart',
): Promise<void> {
  const sent = request(`${url}/api/v4.0/api.cgi/farms/${farm}/actions`, {
    method: 'PUT',
    ca: certificatePem,
    headers: { ZAPI_KEY: simulatedKey, 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify({ action }));
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`the ${action} of ${farm} was answered with ${response.statusCode}`);
}

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
