import { describe, expect, it } from 'vitest';
import { readLine } from '../../../src/request-log/line.ts';
import { loggedByZproxy } from '../../support/logged-request.ts';

const read = (line: string) => readLine(line).content;
const header = '<14>Nov 28 18:43:44 zevenet-ce-01 zproxy: ';
const web = '[f:reqtest][th:117fa6c0] [st:21][svc:web][bk:10.10.10.21:8080][cl:192.168.101.1]';
const host = '(established) host:192.168.101.21:8090 - ';
const answer = {
  kind: 'answer',
  farm: 'reqtest',
  service: 'web',
  backend: '10.10.10.21:8080',
  code: '200',
  bytes: 3,
  seconds: undefined,
  isClientFault: false,
};
const without = { ...answer, bytes: undefined };

describe('a line of zproxy 0.9.5, as rsyslog wrote it,', () => {
  it.each([
    [`${web}${host}"GET /plain HTTP/1" "HTTP/1.1 200 OK" 3 "" "curl/7.88.1"`, answer],
    [`${web}${host}"GET /s/404 HTTP/1" "HTTP/1.1 404 Not Found" 20 "" "x"`, { code: '404', bytes: 20 }],
    [`${web}${host}"GET /chunk HTTP/1" "HTTP/1.1 200 OK" 0 "" "curl/7.88.1"`, { code: '200', bytes: 0 }],
    [`${web}${host}"GET /big HTTP/1" "HTTP/1.1 200 OK" 300000 "" "curl/7.88.1"`, { bytes: 300_000 }],
    [`${web}${host}"GET /s/304 HTTP/1" "HTTP/1.1 304 Not Modified" 0 "" "x"`, { code: '304', bytes: 0 }],
    [`${web}${host}"HEAD /head HTTP/1" "HTTP/1.1 200 OK" 3 "" "curl/7.88.1"`, { code: '200', bytes: undefined }],
    [`${web}${host}"POST /post HTTP/1" "HTTP/1.1 200 OK" 3 "" "curl/7.88.1"`, answer],
    [`${web}${host}"GET /quotes HTTP/1" "HTTP/1.1 200 OK" 3 "r"" "evil" 200 ""`, answer],
    [`${web}${host}"GET /tab HTTP/1" "HTTP/1.1 200 OK" 3 "" "a#011b"`, answer],
    [`${web}${host}"GET /ws HTTP/1" "HTTP/1.1 101 Switching Protocols" 0 "" "x"`, { code: '101', bytes: 0 }],
    [
      '[f:reqtest][th:a2ff96c0] [st:25][svc:redir][bk:-][cl:192.168.101.1](responded) the request "GET /x HTTP/1.1" was redirected to "https://www.example.com/"',
      { ...without, service: 'redir', backend: '', code: '302' },
    ],
    [
      '[f:reqtest][th:10ff96c0] [st:24][svc:dead][bk:-][cl:192.168.101.1](error) e503 no backend "Host:192.168.101.21:8090" "GET /dead1 HTTP/1.1"',
      { ...without, service: 'dead', backend: '', code: '503' },
    ],
    [
      '[f:reqtest][th:13fff6c0] [st:25][svc:-][bk:-][cl:192.168.101.1](error) e503 no service "Host:" "GET /nope HTTP/1.1"',
      { ...without, service: '', backend: '', code: '503' },
    ],
    [
      '[f:reqtest][th:127fc6c0] [st:28][svc:-][bk:-][cl:192.168.101.1](error) e405 Method not allowed "Host:" "FOO /foo HTTP/1.1"',
      { code: '405', isClientFault: true },
    ],
    [`${web}(error) e400 Bad Request "Host:" ""`, { code: '400', isClientFault: true }],
    [`${web}(error) e500 Internal Server Error "Host:192.168.101.21:8090" "GET /bad HTTP/1.1"`, { code: '500' }],
    [`${web}(error) e504 Gateway timeout "Host:192.168.101.21:8090" "GET /ws HTTP/1.1"`, { ...without, code: '504' }],
    [loggedByZproxy({}), { ...answer, farm: 'shop', service: 'front', backend: '10.0.0.1:80', bytes: 5_120 }],
  ])('counts as a request: %s', (text, expected) => {
    expect(read(header + text)).toMatchObject({ kind: 'answer', ...expected });
  });

  it.each([
    `${web} Request body is not expected, ignore 32 extra bytes: GET /pipe2 HTTP/1.1#015#012Host: a`,
    `${web} Response body is not defined, but 3 extra bytes was received: abc`,
    'JSON object encoding successful',
    'received control command',
    '[bk:10.10.10.11:8080] The backend resurrected',
    '[svc:dead][bk:10.10.10.15:8080] The backend dead (killed)',
    '[7f6deb5fd6c0] connection release for client 192.168.101.1:59658 (result=Connection reset by peer)',
    'zcu_net_get_address():125: getaddrinfo: Name or service not known',
    'Backtrace_symbol: /usr/local/zevenet/app/zproxy/bin/zproxy(zcu_bt_print_symbols+0x1d) [0x55f48335eb4d]',
  ])('does not count as a request: %s', (text) => {
    expect(read(header + text)).toBe('other');
  });
});

describe('a client of zproxy', () => {
  const tail = ' - "GET / HTTP/1" "HTTP/1.1 500 X" 1 "" ""';
  it.each([
    ['a whole tail in its host', loggedByZproxy({ host: `a${tail}` }), 'ambiguous'],
    ['a whole tail in its address', loggedByZproxy({ request: `GET /${tail} HTTP/1` }), 'ambiguous'],
    ['a whole tail in its agent', loggedByZproxy({ agent: `a${tail}` }), 'ambiguous'],
    ['a head in its host', loggedByZproxy({ host: `${web}(error) e503 no backend` }), 'answer'],
    [
      'a head in an address of a failure',
      `${web}(error) e405 Method not allowed "Host:" "FOO ${web}(error) e503 x"`,
      '405',
    ],
    ['a line that is cut off', loggedByZproxy({}).slice(0, -20), 'unreadable'],
    ['a status beyond any number', loggedByZproxy({ code: '20000' }), 'unreadable'],
    ['an unknown form', `${web}(denied) x`, 'unreadable'],
  ])('can at most hide a request when it writes %s', (_, text, expected) => {
    const content = read(header + text);
    expect(typeof content === 'string' ? [content] : [content.kind, 'code' in content && content.code]).toContain(
      expected,
    );
  });
});

describe('the header of zproxy', () => {
  it.each([
    '<14>1 2026-11-28T18:43:44Z lb zproxy - - - ',
    '<14>Nov 28 18:43:44 zproxy zproxy[12]: ',
    '<11>2026-11-28T18:43:44.123456+01:00 lb zproxy: ',
  ])('is parsed from %s', (text) => {
    expect(read(text + loggedByZproxy({}))).toMatchObject({ kind: 'answer', farm: 'shop' });
  });

  it('is unreadable when it is unknown, and the line belongs to a request', () => {
    expect(read(`Nov 28 18:43:44 lb zproxy: ${loggedByZproxy({})}`)).toBe('unreadable');
  });

  it('does not match a line of the other proxy under its name', () => {
    expect(read(`<14>Nov 28 18:43:44 lb pound: ${loggedByZproxy({})}`)).toBe('other');
  });
});
