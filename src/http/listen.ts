import type { FastifyInstance } from 'fastify';
import { errorCode } from '../lib/check.ts';

/** An address that cannot be listened on; the message is one line with the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const chooseAnother = 'choose another --web.listen-address, such as :9444 for every address';
const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use; stop what uses it or choose another --web.listen-address',
  EADDRNOTAVAIL: `no network interface has the address; ${chooseAnother}`,
  EAFNOSUPPORT: `this machine has no IPv6; ${chooseAnother}`,
  ENOTFOUND: `the host name has no address; ${chooseAnother}`,
  EAI_AGAIN: `the host name has no address for now; ${chooseAnother}`,
  EACCES: 'the user that runs the exporter may not use the port; choose a --web.listen-address with a port above 1023',
};

/**
 * Listens on `host:port`, `:port` or `[v6]:port`; resolves to the URL for people. An empty host is every address.
 * Rejects with a ListenError.
 */
export async function listen(app: FastifyInstance, address: string): Promise<string> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: Number.NaN };
  try {
    if (host === '') await listenOnEveryAddress(app, port);
    else await app.listen({ host, port });
  } catch (error) {
    const remedy = remedies[errorCode(error)];
    throw remedy === undefined ? error : new ListenError(`cannot listen on ${address}: ${remedy}`, { cause: error });
  }
  const bound = app.server.address();
  const actual = typeof bound === 'object' && bound ? bound.port : port;
  const shown = host === '' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${actual}`;
}

/** Where IPv6 is off in the kernel there is no `::`, which elsewhere takes IPv4 too. */
async function listenOnEveryAddress(app: FastifyInstance, port: number): Promise<void> {
  try {
    await app.listen({ host: '::', port });
  } catch (error) {
    if (!['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(errorCode(error))) throw error;
    await app.listen({ host: '0.0.0.0', port });
  }
}

/** Undefined when the text is not a listen address. */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  return match && port <= 65_535 ? { host: match[1] ?? match[2] ?? '', port } : undefined;
}
