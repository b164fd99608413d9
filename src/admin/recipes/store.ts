import { X509Certificate } from 'node:crypto';
import type { RecipeContext } from './recipe.ts';

/** Longer text is none of a certificate. */
const maxInfoLength = 1_048_576;
const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/**
 * Resolves to a certificate of the store, whose text form ends with it in PEM (docs/api.md §3.11);
 * undefined when the text has none.
 */
export async function readStored(
  { calls }: Pick<RecipeContext, 'calls'>,
  file: string,
): Promise<X509Certificate | undefined> {
  const text = (await calls.readText('readCertificateInfo', { file })).slice(0, maxInfoLength);
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) return undefined;
  try {
    return new X509Certificate(text.slice(from, to + end.length));
  } catch {
    return undefined;
  }
}
