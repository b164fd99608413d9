import { createHash, randomBytes } from 'node:crypto';

/** Makes a token of the admin gateway and its digest for the configuration. */
export function makeToken(): { readonly token: string; readonly sha256: string } {
  const token = `zlb_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}
