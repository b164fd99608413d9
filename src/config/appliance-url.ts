import type { Parsed } from './problems.ts';

/**
 * Parses the base address of an appliance: https, port 444 unless the text names one, the path as
 * given. A problem quotes nothing of it: the text may contain a password.
 */
export function applianceUrl(text: string): Parsed<URL> {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (/^http:/i.test(address)) {
    return {
      problem:
        'plain http would send the API key in clear text; write https://, and pin a self-signed certificate by its fingerprint',
    };
  }
  if (!/^https:/i.test(address)) return { problem: 'must start with https://' };
  if (address.includes('@')) {
    return {
      problem: 'must not hold a user or a password (the part before @); the API key has a setting of its own',
    };
  }
  if (/[?#]/.test(address)) return { problem: 'must end with the path: remove the part from ? or # on' };
  if (/[\s\\]/.test(address)) return { problem: 'must not hold spaces or backslashes' };
  if (!URL.canParse(address)) {
    return {
      problem:
        'is not an address; write https://HOST:PORT such as https://192.0.2.10:444, an IPv6 host in brackets: https://[2001:db8::10]:444',
    };
  }
  const url = new URL(address);
  // `URL` drops the default port 443, so the text tells whether a port was given.
  if (!/^https:\/\/(?:\[[^\]]*\]|[^:/]*):\d/i.test(address)) url.port = '444';
  return { value: url };
}
