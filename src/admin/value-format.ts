import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Words for kinds of data that are the same on every release; any other word is left to the appliance. */
const kinds: Readonly<Record<string, (word: string) => boolean>> = {
  ip_addr: (word) => isIP(word) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  port: (word) => /^[1-9]\d{0,4}$/.test(word) && Number(word) <= 65_535,
  farm_name: (word) => /^[a-zA-Z0-9-]+$/.test(word),
};

const longestPattern = 200;
const longestWord = 256;
const mostQuantifiers = 3;

/** Whether a value fits a format of the appliance, a word or a regular expression; true when that cannot be decided here. */
export function fitsFormat(word: string, format: string): boolean {
  const kind = Object.hasOwn(kinds, format) ? kinds[format] : undefined;
  if (kind) return kind(word);
  if (/^\w*$/.test(format) || word.length > longestWord || !isHarmless(format)) return true;
  const pattern = compiled(format);
  return !pattern || pattern.test(word);
}

/** False for a pattern that a well-chosen value could keep busy: it comes from the other side. */
function isHarmless(pattern: string): boolean {
  const bare = pattern.replaceAll('(?', '(');
  const quantifiers = bare.match(/[*+?{]/g) ?? [];
  return pattern.length <= longestPattern && quantifiers.length <= mostQuantifiers && !/\)[*+{]/.test(bare);
}

function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u');
  } catch {
    // Perl knows forms that are none here.
    return undefined;
  }
}
