import { maskValue } from '../../admin/mask.ts';
import { isRecord } from '../../lib/check.ts';
import { Secret } from '../../lib/secret.ts';
import { parseJson } from './admin-error.ts';
import { contentTypes } from './content.ts';
import type { Content } from './gateway-client.ts';

/** A shorter secret would match parts of ordinary words. */
const minSecretLength = 4;

/** Returns a function that masks the passwords and keys of a request body in a text: appliances repeat them in their answers. */
export function redactor(content: Content | undefined): (text: string) => string {
  const body = content?.type === contentTypes.json ? parseJson(content.bytes) : undefined;
  const secrets = hiddenTexts(body, maskValue(body)).flatMap((text) => [
    new Secret(text),
    // The spelling in JSON.
    new Secret(JSON.stringify(text).slice(1, -1)),
  ]);
  return (text) => secrets.reduce((shown, secret) => secret.scrub(shown), text);
}

/** Returns the texts of a body that its masked copy does not have; a masked list or object is a single text there. */
function hiddenTexts(body: unknown, maskedBody: unknown): readonly string[] {
  const hidden: string[] = [];
  const pairs: [value: unknown, masked: unknown][] = [[body, maskedBody]];
  // A queue instead of recursion: a body may be nested deeper than the stack.
  for (const [value, masked] of pairs) {
    if (typeof value === 'string' && value !== masked && value.length >= minSecretLength) hidden.push(value);
    else if (Array.isArray(value))
      value.forEach((item: unknown, index) => pairs.push([item, Array.isArray(masked) ? masked[index] : masked]));
    else if (isRecord(value))
      for (const [name, item] of Object.entries(value)) pairs.push([item, isRecord(masked) ? masked[name] : masked]);
  }
  return hidden;
}
