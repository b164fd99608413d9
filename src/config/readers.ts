import { Secret } from '../lib/secret.ts';
import { applianceUrl } from './appliance-url.ts';
import { certificatesIn } from './certificates.ts';
import { expiry } from './expiry.ts';
import { listenAddress } from './listen-address.ts';
import { passwordHash } from './password-hash.ts';
import { privateKeyIn } from './private-key.ts';
import type { Outcome } from './problems.ts';
import { byteSize, duration, type Limits, ratio } from './quantity.ts';
import { schedule } from './schedule.ts';

/** Every kind of text a value can be, with what the program makes of it. The schema names them in `reads`. */
export const readers = {
  apiKey,
  applianceName,
  applianceUrl,
  byteSize,
  certificates: certificatesIn,
  duration,
  expiry,
  farmPattern,
  fingerprint,
  headerValue,
  interval,
  listenAddress,
  passwordHash,
  pattern,
  privateKey: privateKeyIn,
  ratio,
  schedule,
  serverName,
  tokenDigest,
  tokenName,
} satisfies Record<string, (text: string, limits: Limits) => Outcome<unknown>>;

export type ReaderName = keyof typeof readers;

/** What a reader makes of its text. */
export type ReadBy<Name extends ReaderName> = Extract<ReturnType<(typeof readers)[Name]>, { value: unknown }>['value'];

/** An API key as it goes into a header; a refusal says where in the key, never what. */
export function apiKey(text: string): Outcome<Secret> {
  if (text === '') return { problem: 'holds no key; put the API key of the appliance there' };
  const misfit = text.search(/[^\x21-\x7e]/);
  if (misfit === -1) return { value: new Secret(text) };
  return {
    problem: `holds what cannot go into an HTTP header: character ${misfit + 1} of ${text.length} is a space, a line break or not ASCII; copy the key again, alone`,
  };
}

function applianceName(text: string): Outcome<string> {
  if (/^\P{Cc}{1,128}$/u.test(text)) return { value: text };
  return { problem: 'must be 1 to 128 characters without line breaks or other control characters' };
}

/** A pattern that matches whole names, as in Prometheus; its dot stands for a line break too, as a name may hold one. */
function farmPattern(text: string): Outcome<RegExp> {
  try {
    // Alone first: inside the brackets `a)(b` would pass for a pattern.
    const value = new RegExp(`^(?:${new RegExp(text).source})$`, 's');
    // Only at its first use, and once for names of each width, is it found to be too large.
    for (const name of ['a', '\u0100']) value.test(name);
    return { value };
  } catch {
    return { problem: 'is not a regular expression; "web-.*" is one, for every name that starts with web-' };
  }
}

/** 64 lower-case hex digits, also of a line that openssl printed (`sha256 Fingerprint=AB:CD:…`). */
function fingerprint(text: string): Outcome<string> {
  const digits = text
    .replace(/^sha-?256 fingerprint\s*=\s*/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(digits)) return { value: digits };
  return { problem: 'must be 64 hex digits, with or without colons; `zlb-exporter fingerprint HOST:PORT` prints it' };
}

function headerValue(text: string): Outcome<string> {
  if (/^[\x20-\x7e]{0,4096}$/.test(text)) return { value: text.trim() };
  return { problem: 'holds what cannot go into an HTTP header; write one line of ASCII' };
}

/** Milliseconds; a bare 0 needs no unit. */
function interval(text: string, limits: Limits): Outcome<number> {
  return text === '0' ? { value: 0 } : duration(text, limits);
}

/** A text in which `*` may stand for any characters. */
function pattern(text: string): Outcome<string> {
  return text === '' ? { problem: 'is empty; write a name or a pattern, or take it out of the list' } : { value: text };
}

function serverName(text: string): Outcome<string> {
  if (/^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(text)) return { value: text };
  return { problem: 'must be the host name in the certificate, such as lb.example.org; no address, port or path' };
}

/** 64 lower-case hex digits. A refusal repeats nothing: it may be the token that was put where its digest belongs. */
function tokenDigest(text: string): Outcome<string> {
  if (/^[0-9a-f]{64}$/i.test(text)) return { value: text.toLowerCase() };
  return { problem: 'must be the SHA-256 of the token, 64 hex digits; `zlb-exporter token` prints both' };
}

function tokenName(text: string): Outcome<string> {
  if (/^[\w.@-]{1,64}$/.test(text)) return { value: text };
  return { problem: 'must be 1 to 64 characters out of letters, digits and . _ @ -' };
}
