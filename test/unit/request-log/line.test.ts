import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLine } from '../../../src/request-log/line.ts';
import { logged } from '../../support/logged-request.ts';

const read = (line: string) => readLine(line).content;

const message = logged({});
const answer = {
  kind: 'answer',
  farm: 'shop',
  service: 'front',
  backend: '10.0.0.1:80',
  code: '200',
  bytes: 5_120,
  seconds: 0.042,
  isClientFault: false,
};
const header = '<134>Nov 26 04:17:34 lb-paris pound: ';

describe('the header of a log line', () => {
  it.each([
    ['of RFC 3164', '<134>Nov  6 04:17:34 lb-paris pound: '],
    ['of RFC 3164 with the number of the process', '<134>Nov 26 04:17:34 lb-paris pound[1234]: '],
    ['with the time of RFC 3339', '<134>2026-11-26T04:17:34.123456+01:00 lb-paris pound: '],
    ['of RFC 5424', '<134>1 2026-11-26T04:17:34.123456+01:00 lb-paris pound 1234 - - '],
    ['of RFC 5424 as rsyslog sends it, with a blank more', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - -  '],
    ['of RFC 5424 with structured data', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - [a b="c"] '],
    ['of RFC 5424 with the mark of UTF-8', '<134>1 2026-11-26T04:17:34Z lb-paris pound - - - \xef\xbb\xbf'],
    [
      'of RFC 5424 with two elements of data',
      '<134>1 2026-11-26T04:17:34Z lb pound 1 - [timeQuality tzKnown="1"][meta x="[1"] ',
    ],
    ['of RFC 5424 with an escaped bracket', String.raw`<134>1 2026-11-26T04:17:34Z lb pound 1 - [a b="c\]d \\"] `],
    ['of RFC 5424 without anything', '<134>1 - - pound - - - '],
    ['of RFC 3164 without a host', '<134>Nov 26 04:17:34 pound: '],
    ['of RFC 3164 with a year', '<134>Nov 26 2026 04:17:34 lb-paris pound: '],
    ['of RFC 3164 with a year behind it', '<134>Nov 26 04:17:34 2026 lb-paris pound: '],
    ['of RFC 3164 with a fraction of a second', '<134>Nov 26 04:17:34.123456 lb-paris pound: '],
    ['of RFC 3164 with a time zone', '<134>Nov 26 04:17:34 CET lb-paris pound: '],
    ['with a date and a blank', '<134>2026-11-26 04:17:34,123 lb-paris pound: '],
    ['with a path of the program', '<134>Nov 26 04:17:34 lb-paris /usr/local/sbin/pound[12]: '],
    ['with no time and no host', '<134>pound: '],
    ['with a clock that is years off', '<134>1 1970-01-01T00:00:00Z lb-paris pound - - - '],
  ])('is parsed in each format: %s', (_, text) => {
    expect(read(text + message)).toEqual(answer);
  });

  it.each([
    ['another program', '<134>Nov 26 04:17:34 lb-paris sshd: '],
    [
      'another program that has the name of the proxy in its words',
      '<134>Nov 26 04:17:34 lb sshd[1]: Invalid user pound: ',
    ],
    ['another program by RFC 5424', '<134>1 2026-11-26T04:17:34Z lb sshd 1 - - pound: '],
    ['a program whose name ends so', '<134>Nov 26 04:17:34 lb-paris compound: '],
    ['nothing', ''],
  ])('does not belong to a request: %s', (_, text) => {
    expect(['other', 'unreadable']).toContain(read(text + message));
  });

  it.each([
    ['has no priority', 'Nov 26 04:17:34 lb-paris pound: '],
    ['is JSON', '<134>{"program":"pound","message":"'],
    ['has text between name and line', '<134>Nov 26 04:17:34 lb pound (daemon.info): '],
  ])('is unreadable when it %s, so that the alert on such lines counts it', (_, text) => {
    expect(read(text + message)).toBe('unreadable');
    expect(read(`${text}shop, (7f) e503 no service "GET / HTTP/1.1" from 192.0.2.1 -`)).toBe('unreadable');
  });
});

describe('lines of a real appliance', () => {
  const time = '<134>2026-11-26T22:49:16.995231+00:00 noid-ce-01 pound: ';
  it.each([
    [
      'reqtest, 192.168.101.21:8090 192.168.101.1 - - [26/Nov/2026:22:49:12 +0000] "GET /slow?wait=4 HTTP/1.1" 200 10 "" "curl/7.88.1" (svc -> 10.10.10.21:8080) 4.001 sec',
      { code: '200', service: 'svc', backend: '10.10.10.21:8080', bytes: 10, seconds: 4.001 },
    ],
    [
      'reqtest, 192.168.101.21:8090 192.168.101.1 - - [26/Nov/2026:22:49:25 +0000] "HEAD /head HTTP/1.1" 200 - "" "curl/7.88.1" (svc -> 10.10.10.21:8080) 0.001 sec',
      { code: '200', bytes: 0 },
    ],
    [
      'reqtest, 192.168.101.21:8090 192.168.101.1 - - [26/Nov/2026:22:49:26 +0000] "GET /evil HTTP/1.1" 200 10 "" "x" 500 1 "" "" (svc -> 10.10.10.21:8080) 0.001 sec" (svc -> 10.10.10.21:8080) 0.000 sec',
      { code: '200', seconds: 0 },
    ],
    [
      'redirector, 192.168.101.1 - - [26/Nov/2026:22:34:04 +0000] "GET /x HTTP/1.1" 302 0 "" "curl/7.88.1"',
      { code: '302', farm: 'redirector', backend: '', seconds: undefined },
    ],
    [
      'reqtest, service svc, backend 10.10.10.21:8080, (7fb0411ff6c0) e500 for 192.168.101.1 response error read from 10.10.10.21:8080/GET /reset HTTP/1.1: Success (0.004 secs)',
      { code: '500', backend: '10.10.10.21:8080', seconds: 0.004, isClientFault: false },
    ],
    [
      'reqtest, service dead, (7fb040ef36c0) e503 no back-end "GET /dead/1 HTTP/1.1" from 192.168.101.1 192.168.101.21:8090',
      { code: '503', service: 'dead', backend: '' },
    ],
    [
      'reqtest, service dead, backend 10.10.10.22:8080, (7fb0411ff6c0) e503 no back-end "GET /dead/1 HTTP/1.1" from 192.168.101.1',
      { code: '503', service: 'dead', backend: '10.10.10.22:8080' },
    ],
    [
      'reqtest, (7fb0411ff6c0) e501 bad request "FOO /f HTTP/1.1" from 192.168.101.1',
      { code: '501', isClientFault: true },
    ],
    [
      'secure-shop, (7f5e12b0f6c0) e414 headers: request URI too long',
      { code: '414', farm: 'secure-shop', isClientFault: true, seconds: undefined },
    ],
  ])('are parsed: %s', (text, expected) => {
    expect(read(time + text)).toMatchObject({ kind: 'answer', ...expected });
  });

  it.each([
    'reqtest, service svc, backend 10.10.10.21:8080, (7fb0410ba6c0) error copy server cont: Broken pipe',
    "reqtest, (7fb0411ff6c0) BackEnd 10.10.10.22:8080 dead (killed) in farm: 'reqtest', service: 'dead'",
    'secure-shop, service secure, backend , (7fe25f8c36c0) BackEnd enabled',
  ])('do not belong to a request: %s', (text) => {
    expect(read(time + text)).toBe('other');
  });
});

describe('repeated lines', () => {
  it.each([
    [
      '95',
      `shop, service front, (7efc4d7586c0) e503 no back-end "GET / HTTP/1.1" from 192.0.2.1 -`,
      { code: '503' },
      95,
    ],
    ['3', message, { code: '200' }, 3],
  ])('are counted %s times', (count, text, part, times) => {
    const line = readLine(`${header}message repeated ${count} times: [ ${text}]`);
    expect(line).toMatchObject({ content: part, times });
  });

  it.each([
    ['more than one line can stand for', `message repeated 999999 times: [ ${message}]`, 10_000],
    ['cut off by rsyslog', `message repeated 2 times: [ ${logged({ agent: 'x'.repeat(900) }).slice(0, 799)}]`, 2],
    [
      'cut off where a client wants it',
      `message repeated 2 times: [ ${cutAfter('" (front -> 10.0.0.1:80) 9.999 sec')}]`,
      2,
    ],
  ])('are unreadable when they are %s', (_, text, times) => {
    expect(readLine(header + text)).toEqual({ content: 'unreadable', times });
  });
});

describe('a logged request', () => {
  it.each([
    ['a response without a body', { bytes: '-' }, { bytes: 0 }],
    ['a status of the backend', { code: '502' }, { code: '502' }],
    ['no service', { service: '-' }, { service: '' }],
    ['a backend with IPv6', { backend: '2001:db8::1:8080' }, { backend: '2001:db8::1:8080' }],
    ['no host', { host: '-' }, {}],
    ['a user with blanks', { user: 'Some One' }, {}],
    ['a long time', { seconds: '61.500' }, { seconds: 61.5 }],
    ['HTTP/1.0', { request: 'HEAD /x HTTP/1.0' }, {}],
    ['quotation marks of the client', { agent: 'a " b', referrer: '"(x -> y) 1.000 sec' }, {}],
  ])('is parsed with %s', (_, given, expected) => {
    expect(read(header + logged(given))).toEqual({ ...answer, ...expected });
  });

  it.each([
    ['a redirect', '192.0.2.77 - - [26/Nov/2026:22:17:34 +0000] "GET /cart HTTP/1.1" 302 0 "" "curl/8.0"', '302', 0],
    [
      'a redirect for an agent that writes a way',
      '2001:db8::7 - bob [26/Nov/2026:22:17:34 +0000] "GET / HTTP/1.1" 301 0 "https://a.test/" "a (b -> c) 1.000 sec"',
      '301',
      0,
    ],
    ['log level 4', '192.0.2.77 - - [26/Nov/2026:22:17:34 +0000] "POST /x HTTP/1.1" 200 77 "" ""', '200', 77],
    ['log level 3', 'a.test 192.0.2.77 - - [26/Nov/2026:22:17:34 +0000] "GET / HTTP/1.1" 404 - "" "x"', '404', 0],
  ])('is parsed without backend and duration: %s', (_, text, code, bytes) => {
    const expected = { ...answer, service: '', backend: '', code, bytes, seconds: undefined };
    expect(read(`${header}shop, ${text}`)).toEqual(expected);
  });

  it.each([
    ['a WebSocket', { code: '101', bytes: '4', seconds: '3600.000' }, { code: '101', bytes: 4 }],
    [
      'the way in of a remote desktop',
      { request: 'RPC_IN_DATA /rpc/rpcproxy.dll HTTP/1.1', code: '000', bytes: '99', seconds: '900.000' },
      { code: '000', bytes: undefined },
    ],
    ['its way out', { request: 'RPC_OUT_DATA /rpc/rpcproxy.dll HTTP/1.1', seconds: '900.000' }, {}],
  ])('has no duration, because it is a tunnel: %s', (_, given, expected) => {
    expect(read(header + logged(given))).toEqual({ ...answer, seconds: undefined, ...expected });
  });

  it.each([
    ['is cut off', message.slice(0, 120), 'unreadable'],
    ['has no status', logged({ code: '' }), 'unreadable'],
    ['has no version of HTTP', logged({ request: 'GET / HTTP/1x1' }), 'unreadable'],
    ['has a size beyond any number', logged({ bytes: '9'.repeat(400) }), 'unreadable'],
    ['has a duration beyond any number', logged({ seconds: `${'9'.repeat(400)}.0` }), 'unreadable'],
    ['has a blank in its host', logged({ host: 'a b' }), 'unreadable'],
    ['has the maximum length of the proxy', logged({ agent: 'x'.repeat(4_095 - message.length + 14) }), 'unreadable'],
    ['has a status in its agent', logged({ agent: 'x HTTP/1.1" 503 1 "' }), answer],
    ['has a request in its agent', logged({ agent: message }), 'ambiguous'],
    ['has a request in its host', logged({ host: message }), 'ambiguous'],
    ['has an answer of the proxy in its host', logged({ host: '(7f) e503 ' }), 'ambiguous'],
  ])('is judged correctly when it %s', (_, text, expected) => {
    expect(read(header + text)).toEqual(expected);
  });
});

describe('a message of the proxy itself', () => {
  const own = { ...answer, service: '', backend: '', bytes: undefined, seconds: undefined };
  it.each([
    [
      'service front, (7efc4d7586c0) e503 no back-end "GET / HTTP/1.1" from 192.0.2.1 -',
      { ...own, service: 'front', code: '503' },
    ],
    [
      'service front, backend 10.0.0.1:80, (7efc4d7586c0) e500 error write to 10.0.0.1:80: Broken pipe (0.000 sec)',
      { ...own, service: 'front', backend: '10.0.0.1:80', code: '500', seconds: 0 },
    ],
    [
      'service front, backend 10.0.0.1:80, (7efc4d7586c0) WAF denied a request from 192.0.2.1',
      { kind: 'denial', farm: 'shop' },
    ],
    ['service front, backend 10.0.0.1:80, (7efc4d7586c0) replied by WAF', { kind: 'denial', farm: 'shop' }],
    ['[WAF,service front, backend 10.0.0.1:80,] (7efc4d7586c0) [client 192.0.2.1] ModSecurity: Access denied', 'other'],
    ['service front, backend 10.0.0.1:80, (7efc4d7586c0) backend 10.0.0.1:80 connect: Connection refused', 'other'],
    ['(7efc4d7586c0) bad header from 192.0.2.1 ((7f) e503 x)', 'other'],
  ])('is parsed: %s', (text, expected) => {
    expect(read(`${header}shop, ${text}`)).toEqual(expected);
  });
});

describe('a logged failure', () => {
  const way = 'service front, backend 10.0.0.1:80, (7efc4d7586c0) ';
  const upload = 'e500 for 192.0.2.7 error copy client cont to 10.0.0.1:80/POST /up HTTP/1.1';
  it.each([
    ['of an upload to a backend that has gone', `${way}${upload}: Broken pipe (3.000 sec)`, '500', false, 3],
    [
      'of a client that leaves its upload',
      `${way}${upload}: Connection reset by peer (3.000 sec)`,
      '500',
      true,
      undefined,
    ],
    [
      'of a client that leaves its upload in pieces',
      `${way}e500 for 192.0.2.7 copy_chunks to 10.0.0.1:80/POST /up HTTP/1.1 (3.000 sec)`,
      '500',
      true,
      undefined,
    ],
    ['of half a head', "(7f) e500 can't read header", '500', true, undefined],
    ['of too many headers', '(7f) e500 too many headers', '500', true, undefined],
    ['of a bad address', '(7f) e501 bad URL "/%c0%af" from 198.51.100.1', '501', true, undefined],
    ['of a long body', '(7f) e501 request too large (9999999) from 198.51.100.1', '501', true, undefined],
    ['without a service', '(7f) e503 no service "GET / HTTP/1.1" from 192.0.2.1 (9.000 sec)', '503', false, undefined],
  ])('shows who caused it, and how long it took: %s', (_, text, code, isClientFault, seconds) => {
    expect(read(`${header}shop, ${text}`)).toMatchObject({ kind: 'answer', code, isClientFault, seconds });
  });
});

describe('a client', () => {
  const thread = '(7f22cba676c0)';
  const way = 'service front, backend 10.0.0.1:80,';
  /** The words of a client. */
  interface Words {
    readonly host: string;
    readonly user: string;
    readonly url: string;
    readonly referrer: string;
    readonly agent: string;
  }
  const request = ({ url }: Words) => `GET ${url} HTTP/1.1`;
  /** Forms of the proxy, and the results that they are. */
  const forms: Readonly<
    Record<string, { readonly write: (words: Words) => string; readonly code: string | undefined }>
  > = {
    answer: { write: (words) => logged({ ...words, request: request(words), code: '201' }), code: '201' },
    redirect: {
      write: (words) =>
        `shop, 192.0.2.77 - ${words.user} [26/Nov/2026:22:17:34 +0000] "${request(words)}" 302 0 "${words.referrer}" "${words.agent}"`,
      code: '302',
    },
    'no back-end': {
      write: (words) =>
        `shop, service front, ${thread} e503 no back-end "${request(words)}" from 192.0.2.1 ${words.host}`,
      code: '503',
    },
    'no service': {
      write: (words) => `shop, ${thread} e503 no service "${request(words)}" from 192.0.2.1 ${words.host}`,
      code: '503',
    },
    'bad request': { write: ({ host }) => `shop, ${thread} e501 bad request "${host}" from 192.0.2.1`, code: '501' },
    'bad URL': { write: ({ host }) => `shop, ${thread} e501 bad URL "${host}" from 192.0.2.1`, code: '501' },
    'lost backend': {
      write: (words) =>
        `shop, ${way} ${thread} e500 for 192.0.2.1 response error read from 10.0.0.1:80/${request(words)}: Success (0.004 secs)`,
      code: '500',
    },
    denial: { write: () => `shop, ${way} ${thread} WAF denied a request from 192.0.2.1`, code: undefined },
    'long line': { write: ({ host }) => `shop, ${thread} line too long: ${host}`, code: 'other' },
    'bad header': { write: ({ host }) => `shop, ${thread} bad header from 192.0.2.1 (${host})`, code: 'other' },
    'bad destination': { write: ({ host }) => `shop, ${way} ${thread} Can't parse Destination ${host}`, code: 'other' },
  };
  const usual: Words = { host: 'a.test', user: '-', url: '/x', referrer: '', agent: 'curl' };
  const code = (content: ReturnType<typeof read>) =>
    typeof content === 'object' && content.kind === 'answer' ? content.code : content;
  /** Forms as text, without the farm, and halves of them. */
  const forged = Object.values(forms).flatMap(({ write }) => {
    const whole = write(usual).slice('shop, '.length);
    return [whole, whole.slice(0, whole.length / 2), whole.slice(whole.length / 2)];
  });
  const piece = fc.constantFrom(
    ...forged,
    '(7f) e200 ',
    ' HTTP/1.1" 200 5 "',
    '" "" (front -> 10.0.0.1:80) 0.001 sec',
    '[26/Nov/2026:04:17:34 +0000] "',
    ' from 192.0.2.1 ',
    '192.0.2.1 - - ',
    ': Broken pipe (0.001 sec)',
    '(0.001 secs)',
    '"',
    ' ',
    'x',
    ']',
    '\n',
    '#012',
  );
  const text = fc.oneof(
    piece,
    fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
  );
  const words: fc.Arbitrary<Words> = fc.record({
    host: text,
    // The proxy takes no colon in a user, and no blank in an address.
    user: text.map((user) => user.replaceAll(':', '') || '-'),
    url: text.map((url) => `/${url.replaceAll(/\s/g, '')}`),
    referrer: text,
    agent: text,
  });

  it.each(Object.entries(forms))('cannot forge another result of the form %s', (_, form) => {
    const right = read(header + form.write(usual));
    if (form.code !== undefined) expect(code(right)).toBe(form.code);
    fc.assert(
      fc.property(words, (given) => {
        expect([right, 'ambiguous', 'unreadable']).toContainEqual(read(header + form.write(given)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('costs no more time with a line that almost matches', () => {
    const nearly = [
      '" "',
      '[26/Nov/2026:04:17:34 +0000] "',
      '" (a -> b) 1.0 sec',
      'pound ',
      '[a b="c"]',
      ': ',
      ' - ',
      '(7f) ',
    ];
    const before = process.threadCpuUsage();
    for (const each of nearly)
      for (const head of [
        header,
        '<134>1 2026-11-26T04:17:34Z lb pound - - ',
        '<134>',
        `${header}shop, a 192.0.2.1 - - [26/Nov/2026:04:17:34 +0000] "GET / HTTP/1.1" 200 1 "`,
      ])
        read((head + each.repeat(8_000)).slice(0, 8_000));
    expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
  });
});

/** Returns a message that is cut after this text, since its client made it so long. */
function cutAfter(end: string): string {
  const [begin = ''] = logged({ agent: 'AGENT' }).split('AGENT');
  return begin + 'x'.repeat(799 - begin.length - end.length) + end;
}
