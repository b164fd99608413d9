import { createHash, randomBytes } from 'node:crypto';

/** A token of the admin gateway, and what the configuration holds in its place. */
export function makeToken(): { readonly token: string; readonly sha256: string } {
  const token = `zlb_${randomBytes(32).toString('base64url')}`;
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}
