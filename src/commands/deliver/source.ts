import { join } from 'node:path';
import type { CommandContext } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** The files of a renewed certificate. */
export interface Source {
  /** The certificate and the intermediates. */
  readonly cert: string;
  readonly key: string;
}

/**
 * Returns the files that the flags name, or else those that an ACME client hands to its hook:
 * certbot and lego in the environment, dehydrated as words. Undefined for the hook calls of
 * dehydrated that bring no certificate. Throws a UsageError when no files are named.
 */
export function sourceOf({ flags, env, arguments: words }: CommandContext): Source | undefined {
  const [handler, , hookKey, , hookChain] = words;
  if (handler === 'deploy_cert') {
    if (hookKey !== undefined && hookChain !== undefined) return { cert: hookChain, key: hookKey };
    throw new UsageError('deploy_cert needs what dehydrated gives it: DOMAIN KEYFILE CERTFILE FULLCHAINFILE');
  }
  // dehydrated calls its hook for every step, and expects that unknown ones are ignored.
  if (handler !== undefined && /^[a-z]+(?:_+[a-z]+)+$/.test(handler)) return undefined;
  if (handler !== undefined)
    throw new UsageError('deliver takes flags only: --cert=FULLCHAIN --key=KEY; deliver --help shows examples');
  const [cert, key] = [flags.cert, flags.key];
  if (cert !== undefined && key !== undefined) return { cert, key };
  if ((cert ?? key) !== undefined)
    throw new UsageError('--cert and --key go together: the certificate with its intermediates, and its key');
  const { RENEWED_LINEAGE: lineage } = env;
  if (lineage) return { cert: join(lineage, 'fullchain.pem'), key: join(lineage, 'privkey.pem') };
  // lego 5, and lego before it.
  for (const prefix of ['LEGO_HOOK', 'LEGO']) {
    const { [`${prefix}_CERT_PATH`]: legoCert, [`${prefix}_CERT_KEY_PATH`]: legoKey } = env;
    if (legoCert && legoKey) return { cert: legoCert, key: legoKey };
  }
  throw new UsageError(
    'which certificate? Give --cert=FULLCHAIN and --key=KEY, or call deliver as hook of certbot, lego or dehydrated; deliver --help shows how',
  );
}
