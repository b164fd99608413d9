import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Words for kinds of data that are the same on every release. */
const kinds: Readonly<Record<string, (word: string) => boolean>> = {
  ip_addr: (word) => isIP(word) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  port: (word) => /^[1-9]\d{0,4}$/.test(word) && Number(word) <= 65_535,
  farm_name: (word) => /^[a-zA-Z0-9-]+$/.test(word),
};

/**
 * Whether a value fits a format of the appliance; true when that cannot be decided here. Regular expressions are not
 * tried: they come from the other side, and one that backtracks would stop the whole process.
 */
export function fitsFormat(word: string, format: string): boolean {
  const kind = Object.hasOwn(kinds, format) ? kinds[format] : undefined;
  return kind ? kind(word) : true;
}
