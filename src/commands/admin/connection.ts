import { Agent } from 'undici';
import { misspeltVariables } from '../../config/environment.ts';
import { connectByName } from '../../lib/undici.ts';
import { maxResolveMs, HostResolver } from '../../lib/host-resolver.ts';
import { Secret } from '../../lib/secret.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { parseUrl, readTlsFiles, assertSecretProtected, readTextFile, type TlsFiles } from '../server-address.ts';

/** The address of the gateway and the credentials of the caller. */
export interface Connection extends TlsFiles {
  /** The URL, without a slash at its end. */
  readonly url: string;
  readonly token: Secret;
}

const defaultUrl = 'http://127.0.0.1:9445';

/**
 * Reads flags, environment variables and the files that they name. A flag wins over a variable; an
 * empty variable counts as unset.
 */
export async function readConnection({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Connection> {
  const misspelt = misspeltVariables(env).find(({ meant }) => meant.startsWith('ZLB_ADMIN_'));
  if (misspelt)
    throw new UsageError(
      `the variable ${misspelt.variable} has no effect; did you mean ${misspelt.meant}? Set that one, or unset this one`,
    );
  const url = parseUrl(
    flags['admin.url'] ?? (env.ZLB_ADMIN_URL || defaultUrl),
    '--admin.url (or ZLB_ADMIN_URL) must be a URL such as https://lb-admin.example.com:9445',
  );
  assertSecretProtected(url, 'a token');
  const certificates = await readTlsFiles(flags, url, 'admin.');
  return { url: url.href.replace(/(?<!\/)\/+$/, ''), token: await readToken({ flags, env }), ...certificates };
}

export function tlsAgent({ ca, cert, key }: TlsFiles, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    connect: connectByName(new HostResolver(), maxResolveMs, {
      // Set here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      ...(ca && { ca }),
      ...(cert && key && { cert, key: key.reveal() }),
    }),
  });
}

async function readToken({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Secret> {
  const file = flags['admin.token-file'] ?? (env.ZLB_ADMIN_TOKEN_FILE || undefined);
  if (file === undefined && !env.ZLB_ADMIN_TOKEN)
    throw new UsageError(
      'no token: put it into a file of yours and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE (or ZLB_ADMIN_TOKEN)',
    );
  const [source, text] =
    file === undefined
      ? ['ZLB_ADMIN_TOKEN', env.ZLB_ADMIN_TOKEN ?? '']
      : ['the token file', await readTextFile('the token file', file, 'key')];
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(
      `${source} contains no token; it must be one line of letters, digits and signs, as zlb-exporter token prints`,
    );
  return new Secret(token);
}
