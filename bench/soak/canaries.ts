import { randomBytes } from 'node:crypto';

/** In every planted secret, so that one search finds all of them in whatever form they come out. */
const mark = 'Canary^Planted';

/** A secret that no output may show; the name says where it was planted. */
export function canary(name: string): string {
  return `${mark}-${name}`;
}

/** The key with which an appliance is polled. */
export function apiKeyOf(appliance: string): string {
  return canary(`polling-key-of-${appliance}`);
}

/** The key with which an appliance is changed. */
export function adminKeyOf(appliance: string): string {
  return canary(`admin-key-of-${appliance}`);
}

/** A private key that is none: the body is a canary, as PEM spells it. */
export function canaryPem(name: string): string {
  const body = Buffer.concat([Buffer.from(canary(name)), randomBytes(64)]).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
}

/** Looks for canaries as they are, in base64, percent-encoded and in the escapes of JSON. */
export interface CanarySearch {
  /** The surroundings of the first one; undefined where there is none. */
  findIn(text: string): string | undefined;
}

/** `others` are secrets without the mark, such as the lines of a real private key. */
export function createCanarySearch(others: readonly string[] = []): CanarySearch {
  const forms = [mark, encodeURIComponent(mark), mark.replace('^', '\\u005e'), ...base64Forms(mark)];
  const all = new RegExp([...forms, ...others].map(escaped).join('|'), 'i');
  return {
    findIn(text) {
      const at = text.search(all);
      return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 120), at + 80));
    },
  };
}

/** Returns the base64 characters of a text at any offset that do not depend on its neighbours. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'-'.repeat(before)}${text}`).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6));
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
