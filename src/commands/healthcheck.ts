import { request } from 'undici';
import { parseListenAddress } from '../lib/listen-address.ts';
import { toError } from '../lib/check.ts';
import { type Command, textFlag, UsageError } from './command.ts';

/** Asks a running exporter on this machine whether it is healthy; for containers without a shell or curl. */
export const healthcheck: Command = async ({ flags, say, warn }) => {
  const address = parseListenAddress(textFlag(flags, 'web.listen-address'));
  if (!address) throw new UsageError('--web.listen-address must be host:port or :port');
  const { port } = address;
  // Listening on every address includes this one.
  const host = ['', '0.0.0.0', '::'].includes(address.host) ? '127.0.0.1' : address.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/-/healthy`;
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(3_000) });
    await body.dump();
    if (statusCode === 200) {
      say('healthy');
      return 0;
    }
    warn(`${url} answered ${statusCode}`);
  } catch (error) {
    warn(`${url} does not answer: ${toError(error).message}`);
  }
  return 1;
};
