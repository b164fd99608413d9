import { createHash } from 'node:crypto';

const maxLength = 128;
const harmless = /^[\x20-\x2b\x2d-\x7d]{0,128}$/;
const digestForm = /~[0-9a-f]{12}$/;

/**
 * Returns a label value that cannot break an exposition: well-formed, without control characters, at most 128
 * characters. A value that had to be changed ends in a digest of the original, as does one that only looks like
 * that: two names stay two series. `names` are all label names of the family.
 */
export function labelValue(text: string, names: readonly string[]): string {
  if (harmless.test(text)) return text;
  // Replaced and not left out: a key of which a reply interrupts the text must not become whole here.
  const clean = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
  const isKept = clean === text && clean.length <= maxLength && !digestForm.test(text) && !isAmbiguous(text, names);
  return isKept ? clean : marked(clean, text);
}

/** prom-client compares label sets as `name:value,` in one text: a value must not look like the next label. */
function isAmbiguous(text: string, names: readonly string[]): boolean {
  return text.includes(',') && names.some((name) => text.includes(`,${name}:`));
}

function marked(clean: string, original: string): string {
  // By code units: as UTF-8, all lone surrogates would look alike.
  const digest = createHash('sha256').update(original, 'utf16le').digest('hex').slice(0, 12);
  return `${clean.slice(0, maxLength - digest.length - 1).toWellFormed()}~${digest}`;
}
