import { describe, expect, it } from 'vitest';
import { readLine } from '../../../src/request-log/line.ts';
import { logged } from '../../support/logged-request.ts';

const message = logged({});
const answer = {
  kind: 'answer',
  farm: 'shop',
  service: 'front',
  backend: '10.0.0.1:80',
  code: '200',
  bytes: 5_120,
  seconds: 0.042,
};
const header = '<134>Nov 26 04:17:34 lb-paris pound: ';

describe('the header of a line', () => {
  it.each([
    ['of RFC 3164', '<134>Nov  6 04:17:34 lb-paris pound: '],
    ['of RFC 3164 with the number of the process', '<134>Nov 26 04:17:34 lb-paris pound[1234]: '],
    ['with the time of RFC 3339', '<134>2026-11-26T04:17:34.123456+01:00 lb-paris pound: '],
    ['of RFC 5424', '<134>1 2026-11-26T04:17:34.123456+01:00 lb-paris pound 1234 - - '],
    ['of RFC 5424 as rsyslog sends it, with a blank more', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - -  '],
    ['of RFC 5424 with structured data', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - [a b="c"] '],
    ['of RFC 5424 with the mark of UTF-8', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - - \xef\xbb\xbf'],
    ['of a clock that is years away', '<134>1 1970-01-01T00:00:00Z lb-paris pound - - - '],
  ])('is read %s', (_, text) => {
    expect(readLine(text + message)).toEqual(answer);
  });

  it.each([
    ['another program', '<134>Nov 26 04:17:34 lb-paris sshd: '],
    ['a program whose name ends so', '<134>Nov 26 04:17:34 lb-paris compound: '],
    ['no priority', 'Nov 26 04:17:34 lb-paris pound: '],
    ['nothing', ''],
  ])('is of another line: %s', (_, text) => {
    expect(readLine(text + message)).toBe('other');
  });
});

describe('a request', () => {
  it.each([
    ['an answer without a body', { bytes: '-' }, { bytes: 0 }],
    ['a status of the backend', { code: '502' }, { code: '502' }],
    ['no service', { service: '-' }, { service: '' }],
    ['a backend with IPv6', { backend: '2001:db8::1:8080' }, { backend: '2001:db8::1:8080' }],
    ['no host', { host: '-' }, {}],
    ['a user with blanks', { user: 'Some One' }, {}],
    ['a long time', { seconds: '61.500' }, { seconds: 61.5 }],
    ['HTTP/1.0', { request: 'HEAD /x HTTP/1.0' }, {}],
    ['quotation marks of the client', { agent: 'a " b', referrer: '"(x -> y) 1.000 sec' }, {}],
  ])('is read with %s', (_, given, expected) => {
    expect(readLine(header + logged(given))).toEqual({ ...answer, ...expected });
  });

  it.each([
    ['is cut off', message.slice(0, 120), 'unreadable'],
    ['has no status', logged({ code: '' }), 'unreadable'],
    ['has a size that no number holds', logged({ bytes: '9'.repeat(400) }), 'unreadable'],
    ['has a time that no number holds', logged({ seconds: `${'9'.repeat(400)}.0` }), 'unreadable'],
    ['has a status in its agent', logged({ agent: 'x HTTP/1.1" 503 1 "' }), 'ambiguous'],
    [
      'has a status in its host',
      logged({ host: 'x [26/Nov/2026:04:17:34 +0000] "GET / HTTP/1.1" 503 1 "" "" (a -> b) 9.000 sec' }),
      'ambiguous',
    ],
    ['has an answer of the proxy in its host', logged({ host: '(7f) e503 ' }), { ...answer }],
  ])('of a client that %s', (_, text, expected) => {
    expect(readLine(header + text)).toEqual(expected);
  });
});

describe('what the proxy says itself', () => {
  const own = { kind: 'answer', farm: 'shop', service: '', backend: '', bytes: undefined, seconds: undefined };
  it.each([
    [
      'service front, (7efc4d7586c0) e503 no back-end "GET / HTTP/1.1" from 192.0.2.1 -',
      { ...own, service: 'front', code: '503' },
    ],
    ['(7efc4d7586c0) e503 no service "GET / HTTP/1.1" from 192.0.2.1 -', { ...own, code: '503' }],
    ['(7efc4d7586c0) e501 bad request "x" from 192.0.2.1', { ...own, code: '501' }],
    [
      'service front, backend 10.0.0.1:80, (7efc4d7586c0) e500 error write to 10.0.0.1:80: Broken pipe (0.000 sec)',
      { ...own, service: 'front', backend: '10.0.0.1:80', code: '500' },
    ],
    [
      'service front, backend 10.0.0.1:80, (7efc4d7586c0) WAF denied a request from 192.0.2.1',
      { kind: 'denial', farm: 'shop' },
    ],
    ['service front, backend 10.0.0.1:80, (7efc4d7586c0) replied by WAF', { kind: 'denial', farm: 'shop' }],
    ['[WAF,service front, backend 10.0.0.1:80,] (7efc4d7586c0) [client 192.0.2.1] ModSecurity: Access denied', 'other'],
    ['service front, backend 10.0.0.1:80, (7efc4d7586c0) backend 10.0.0.1:80 connect: Connection refused', 'other'],
    ['(7efc4d7586c0) bad header from 192.0.2.1 ((7f) e503 x)', 'other'],
  ])('%s', (text, expected) => {
    expect(readLine(`${header}shop, ${text}`)).toEqual(expected);
  });
});
