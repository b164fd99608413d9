import type { FastifyInstance } from 'fastify';
import { errorCode } from './check.ts';
import { formatEndpoint, parseListenAddress } from './address.ts';

/** Says that an address cannot be listened on; the message is one line with the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** The flag or key that sets the address. */
  readonly setting: string;

  constructor(message: string, setting: string, options?: ErrorOptions) {
    super(message, options);
    this.setting = setting;
  }
}

/** Reports that a change needs a restart; the message names what to change back. */
export class RestartNeededError extends Error {
  override readonly name = 'RestartNeededError';
}

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use; stop what uses it or choose another',
  EADDRNOTAVAIL: 'no network interface has the address; choose another',
  EAFNOSUPPORT: 'this machine has no IPv6; choose another',
  ENOTFOUND: 'the host name has no address; choose another',
  EAI_AGAIN: 'the host name has no address for now; choose another',
  EACCES: 'the user that runs the exporter may not use the port; choose one above 1023 as',
};

/**
 * Listens on `host:port`, `:port` or `[v6]:port`; resolves to the URL to show. An empty host means
 * every address. Rejects with a ListenError that names the `setting`, such as
 * `--web.listen-address`.
 */
export async function listen(app: FastifyInstance, address: string, setting: string): Promise<string> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: Number.NaN };
  try {
    await listenOnFirst(app, addressesOf(host), port);
  } catch (error) {
    throw listenError(error, address, setting);
  }
  const bound = app.server.address();
  const actual = typeof bound === 'object' && bound ? bound.port : port;
  return `${app.initialConfig.https ? 'https' : 'http'}://${formatEndpoint(host === '' ? 'localhost' : host, actual)}`;
}

/** Returns the ListenError of a failure to listen; another error as it is. */
export function listenError(error: unknown, address: string, setting: string): unknown {
  const because = causes[errorCode(error)];
  if (because === undefined) return error;
  return new ListenError(`cannot listen on ${address}: ${because} ${setting}`, setting, { cause: error });
}

/**
 * Returns the error for an address that is in use because the exporter listens on its port itself,
 * at the address `before` the reload; any other error as it is.
 */
export function ownPortError(error: unknown, before: string | undefined, after: string): unknown {
  const isInUse = error instanceof ListenError && errorCode(error.cause) === 'EADDRINUSE';
  if (!isInUse || parseListenAddress(before ?? '')?.port !== parseListenAddress(after)?.port) return error;
  const message = `${error.setting} cannot change from ${before} to ${after} while the exporter listens on that port; choose another port, or restart it`;
  return new RestartNeededError(message, { cause: error });
}

/**
 * Returns the addresses to try. `::` accepts IPv4 too. A name is one address: for a second one
 * fastify would make a server of its own, without the guards of the first.
 */
function addressesOf(host: string): readonly [string, ...string[]] {
  if (host === '') return ['::', '0.0.0.0'];
  return host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
}

async function listenOnFirst(
  app: FastifyInstance,
  [host, ...others]: readonly [string, ...string[]],
  port: number,
): Promise<void> {
  const [next, ...rest] = others;
  try {
    await app.listen({ host, port });
  } catch (error) {
    if (next === undefined || !['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(errorCode(error))) throw error;
    await listenOnFirst(app, [next, ...rest], port);
  }
}
