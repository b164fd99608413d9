import { maskValue } from '../../admin/mask.ts';
import { isRecord } from '../../lib/check.ts';
import { Secret } from '../../lib/secret.ts';
import { parseJson } from './admin-error.ts';
import { contentTypes } from './content.ts';
import type { Content } from './gateway-client.ts';

/** A shorter one would be found in every other word. */
const shortest = 4;

/** Takes the passwords and keys that are sent along out of what is shown: appliances repeat them in their answers. */
export function sentSecrets(content: Content | undefined): (text: string) => string {
  const body = content?.type === contentTypes.json ? parseJson(content.bytes) : undefined;
  const secrets = hiddenTexts(body, maskValue(body)).flatMap((text) => [
    new Secret(text),
    // As it stands in JSON.
    new Secret(JSON.stringify(text).slice(1, -1)),
  ]);
  return (text) => secrets.reduce((shown, secret) => secret.scrub(shown), text);
}

/** The texts of a value that are not in its masked twin; `masked` is a text where all within is hidden. */
function hiddenTexts(body: unknown, maskedBody: unknown): readonly string[] {
  const hidden: string[] = [];
  const pairs: [value: unknown, masked: unknown][] = [[body, maskedBody]];
  // It grows on the way: a body may be nested deeper than functions can be.
  for (const [value, masked] of pairs) {
    if (typeof value === 'string' && value !== masked && value.length >= shortest) hidden.push(value);
    else if (Array.isArray(value))
      value.forEach((item: unknown, index) => pairs.push([item, Array.isArray(masked) ? masked[index] : masked]));
    else if (isRecord(value))
      for (const [name, item] of Object.entries(value)) pairs.push([item, isRecord(masked) ? masked[name] : masked]);
  }
  return hidden;
}
