import { isIPv6 } from 'node:net';
import { createSecureContext } from 'node:tls';
import { parseEndpoint, parseListenAddress, parseNetwork } from '../lib/address.ts';
import { NamePattern } from '../lib/name-pattern.ts';
import { Secret } from '../lib/secret.ts';
import { certificatesIn, privateKeyIn } from '../lib/pem.ts';
import type { Result } from '../lib/check.ts';
import { schedule } from './schedule.ts';
import { isoTime, parseDuration } from '../lib/time.ts';

/** The limits of a quantity, each written as in the file. */
export interface QuantityLimits {
  /** Exclusive, unlike the other two. */
  readonly above?: string;
  readonly from?: string;
  readonly to?: string;
}

const duration = quantity('a duration such as 20s or 1m30s', parseDuration);

const byteSize = quantity('a size such as 8MiB', parseByteSize);

const ratio = quantity('a share such as 10% or 0.1', parseRatio);

/** Returns `more than 0s and at most 10m`, for messages and documentation; '' without limits. */
function describeLimits({ above, from, to }: QuantityLimits): string {
  return [above && `more than ${above}`, from && `at least ${from}`, to && `at most ${to}`]
    .filter((part) => part !== undefined)
    .join(' and ');
}

function quantity(what: string, parse: (text: string) => number | undefined) {
  return (text: string, limits: QuantityLimits): Result<number> => {
    const value = parse(text);
    if (value === undefined) return { error: `must be ${what}` };
    const limit = (edge: string | undefined) => (edge === undefined ? undefined : parse(edge));
    const fits =
      value > (limit(limits.above) ?? -Infinity) &&
      value >= (limit(limits.from) ?? -Infinity) &&
      value <= (limit(limits.to) ?? Infinity);
    return fits ? { value } : { error: `must be ${describeLimits(limits)}` };
  };
}

function parseRatio(text: string): number | undefined {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  // By its digits: 99.9 / 100 is 0.9990000000000001.
  return Number(percent ? `${amount}e-2` : amount);
}

const unitBytes: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** Returns the bytes of a size such as `8MiB` or `500KB`; undefined for any other text. */
function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([KMG]i?B|B)$/.exec(text);
  const unit = unitBytes[match?.[2] ?? ''];
  return match && unit ? Math.round(Number(match[1]) * unit) : undefined;
}

/** The parsers of values by name; the schema names them in `parsedBy`. */
export const parsers = {
  apiKey,
  applianceName,
  applianceUrl,
  byteSize,
  certificates: certificatesIn,
  cipherSuite,
  duration,
  endpoint,
  expiry,
  farmPattern,
  fingerprint,
  headerValue,
  interval,
  latency,
  listenAddress,
  network,
  passwordHash,
  pattern,
  privateKey: privateKeyIn,
  ratio,
  schedule,
  serverName,
  tokenDigest,
  tokenName,
} satisfies Record<string, (text: string, limits: QuantityLimits) => Result<unknown>>;

export type ParserName = keyof typeof parsers;

export type ParsedValue<Name extends ParserName> = Extract<
  ReturnType<(typeof parsers)[Name]>,
  { value: unknown }
>['value'];

/** Parses an API key; an error names the position in the key, never its characters. */
function apiKey(text: string): Result<Secret> {
  if (text === '') return { error: 'contains no key; put the API key of the appliance into it' };
  const misfit = text.search(/[^\x21-\x7e]/);
  if (misfit === -1) return { value: new Secret(text) };
  return {
    error: `cannot be sent in an HTTP header: character ${misfit + 1} of ${text.length} is a space, a line break or not ASCII; copy the key again, alone`,
  };
}

/** Checks that OpenSSL takes a suite, and that it encrypts; returns its name as written. */
function cipherSuite(text: string): Result<string> {
  try {
    if (!/^TLS_(?!.*_NULL_)\w+$/.test(text)) throw new Error('no suite that encrypts');
    createSecureContext({ ciphers: text });
    return { value: text };
  } catch {
    return { error: 'is not a cipher suite of OpenSSL; write its name as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256' };
  }
}

function applianceName(text: string): Result<string> {
  if (/^\P{Cc}{1,128}$/u.test(text)) return { value: text };
  return { error: 'must be 1 to 128 characters without line breaks or other control characters' };
}

/** Longer patterns take seconds to compile. */
const maxPatternLength = 2_000;

function farmPattern(text: string): Result<NamePattern> {
  if (text.length > maxPatternLength)
    return { error: `is longer than ${maxPatternLength} characters; split it into shorter patterns` };
  try {
    return { value: new NamePattern(text) };
  } catch {
    return {
      error:
        'is not a regular expression of RE2, which has no look-around, no back-references and no \\Z; for every name that starts with web-, write "web-.*"',
    };
  }
}

/**
 * Parses 64 hex digits to lower case, also from a line of openssl (`sha256 Fingerprint=AB:CD:…`).
 */
function fingerprint(text: string): Result<string> {
  const digits = text
    .replace(/^sha-?256 fingerprint\s*=\s*/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(digits)) return { value: digits };
  return { error: 'must be 64 hex digits, with or without colons; `zlb-exporter fingerprint HOST:PORT` prints it' };
}

function headerValue(text: string): Result<string> {
  if (/^[\x20-\x7e]{0,4096}$/.test(text)) return { value: text.trim() };
  return { error: 'cannot be sent in an HTTP header; write one line of ASCII' };
}

/** Checks an IP address, with or without a port; returns it as written. */
function endpoint(text: string): Result<string> {
  if (parseEndpoint(text)) return { value: text };
  return { error: 'must be an IP address, with or without a port: 203.0.113.7, 203.0.113.7:443, [2001:db8::7]:443' };
}

/** Checks a network in CIDR notation, or a single address; returns it as written. */
function network(text: string): Result<string> {
  if (parseNetwork(text)) return { value: text };
  return { error: 'must be a network such as 192.0.2.0/24 or 2001:db8::/64, or an IP address' };
}

/** Parses a duration to milliseconds; a bare 0 needs no unit. */
function interval(text: string, limits: QuantityLimits): Result<number> {
  return text === '0' ? { value: 0 } : duration(text, limits);
}

/** Parses `300ms for 99%`: a time, and the part of requests within it. */
function latency(text: string): Result<{ readonly thresholdMs: number; readonly ratio: number }> {
  const [, time = '', part = ''] = /^(\S+) for (\S+)$/.exec(text.trim()) ?? [];
  const thresholdMs = parseDuration(time);
  const ratioOfRequests = parseRatio(part) ?? 0;
  const isValid = thresholdMs !== undefined && thresholdMs > 0 && ratioOfRequests >= 0.5 && ratioOfRequests < 1;
  if (isValid) return { value: { thresholdMs, ratio: ratioOfRequests } };
  return { error: 'must be a time and a share from 50% to less than 100%, such as 300ms for 99%' };
}

function pattern(text: string): Result<string> {
  return text === '' ? { error: 'is empty; write a name or a pattern, or take it out of the list' } : { value: text };
}

function serverName(text: string): Result<string> {
  if (/^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(text)) return { value: text };
  return {
    error:
      'must be the host name in the certificate, such as lb.example.org, without a port or path; an IP address is not accepted',
  };
}

/**
 * Parses 64 hex digits to lower case. A problem quotes nothing: the text may be the token instead
 * of its digest.
 */
function tokenDigest(text: string): Result<string> {
  if (/^[0-9a-f]{64}$/i.test(text)) return { value: text.toLowerCase() };
  return { error: 'must be the SHA-256 of the token, 64 hex digits; `zlb-exporter token` prints both' };
}

function tokenName(text: string): Result<string> {
  if (/^[\w.@-]{1,64}$/.test(text)) return { value: text };
  return { error: 'must be 1 to 64 characters: letters, digits and . _ @ -' };
}

/** Parses a day (its start in UTC), or a time with its zone, to Unix milliseconds. */
function expiry(text: string): Result<number> {
  const [, day] =
    /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (day === undefined) {
    return {
      error:
        'must be a date such as 2027-01-01 (its start in UTC), or a time with its zone such as 2027-01-01T18:00:00+01:00; omit the key for a token that does not expire',
    };
  }
  const atMs = Date.parse(text);
  return isExistingDay(day) && !Number.isNaN(atMs)
    ? { value: atMs }
    : { error: 'is a date or time that does not exist' };
}

/** Rejects days such as 2027-02-30, which `Date` reads as the second of March. */
function isExistingDay(day: string): boolean {
  return isoTime(Date.parse(day))?.startsWith(day) === true;
}

/** Each step doubles the time; this one takes seconds, and the first scrape waits for it. */
const maxCost = 16;

/**
 * Parses a bcrypt hash. A problem quotes nothing: the text may be the password instead of its hash.
 */
function passwordHash(text: string): Result<Secret> {
  const [, cost] = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text) ?? [];
  if (cost === undefined || Number(cost) < 4) {
    return {
      error:
        'is not the bcrypt hash of a password, which has 60 characters and starts with $2y$; `htpasswd -nBC 10 ""` asks for the password and prints the hash after a colon',
    };
  }
  if (Number(cost) > maxCost) {
    return {
      error: `has the cost ${Number(cost)}, with which a scrape would time out before the password is checked; create a new hash with cost 10, at most ${maxCost}`,
    };
  }
  return { value: new Secret(text) };
}

/** Checks `host:port`, `[IPv6]:port`, or `:port` for every address; returns it as written. */
function listenAddress(text: string): Result<string> {
  const address = parseListenAddress(text);
  if (address && (!text.startsWith('[') || isIPv6(address.host))) return { value: text };
  return { error: 'must be HOST:PORT such as 127.0.0.1:9445, an IPv6 host in brackets: [::1]:9445' };
}

/**
 * Parses the base address of an appliance: https, port 444 unless the text names one, the path as
 * given. A problem quotes nothing of it: the text may contain a password.
 */
export function applianceUrl(text: string): Result<URL> {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (/^http:/i.test(address)) {
    return {
      error:
        'plain http would send the API key in clear text; write https://, and pin a self-signed certificate by its fingerprint',
    };
  }
  if (!/^https:/i.test(address)) return { error: 'must start with https://' };
  if (address.includes('@')) {
    return {
      error: 'must not contain a user or a password (the part before @); the API key has its own setting',
    };
  }
  if (/[?#]/.test(address)) return { error: 'must not contain a query or a fragment; remove everything from ? or #' };
  if (/[\s\\]/.test(address)) return { error: 'must not contain spaces or backslashes' };
  if (!URL.canParse(address)) {
    return {
      error:
        'is not an address; write https://HOST:PORT such as https://192.0.2.10:444, an IPv6 host in brackets: https://[2001:db8::10]:444',
    };
  }
  const url = new URL(address);
  // `URL` drops the default port 443, so the text tells whether a port was given.
  if (!/^https:\/\/(?:\[[^\]]*\]|[^:/]*):\d/i.test(address)) url.port = '444';
  return { value: url };
}
