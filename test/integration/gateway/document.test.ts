import { describe, expect, it } from 'vitest';
import { createOperations } from '../../../src/gateway/operation.ts';
import { createActivationCertificate } from '../../../simulator/replies/activation.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { olderEnterpriseWorld } from '../../../simulator/scenes/older.ts';
import { apiDocumentOperations, documentStatuses } from '../../support/api-document.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';
import { startHttpsServer, startTlsServer } from '../../support/tls-server.ts';

const dayMs = 86_400_000;
const at = (path: string) => `/appliances/lb-1${path}`;
const success = { description: expect.any(String), message: expect.any(String), success: 'true' };

function licenceFor(hostname: string): string {
  return createActivationCertificate({
    kind: 'permanent',
    hostname,
    notBefore: Date.now() - dayMs,
    notAfter: Date.now() + 90 * dayMs,
  });
}

describe('certificate and licence endpoints of the API document', () => {
  it('POST /certificates/activation takes PEM as text/plain, and a new one replaces the previous one', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    const upload = async (hostname: string) =>
      await call('POST', at('/certificates/activation'), { body: licenceFor(hostname), type: 'text/plain' });

    const first = await upload('lb-first');
    const firstText = await call('GET', at('/certificates/activation'));
    const second = await upload('lb-second');
    const secondText = await call('GET', at('/certificates/activation'));

    for (const answer of [first, second]) expect([answer.status, answer.json]).toEqual([200, success]);
    expect(firstText.text).toContain('lb-first');
    expect(secondText.text).toContain('lb-second');
    expect(secondText.text).not.toContain('lb-first');
    expect(appliance.world.activation.installed?.hostname).toBe('lb-second');
  });

  it('POST /certificates/activation works while the appliance is deactivated, and activates it', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });
    await call('DELETE', at('/certificates/activation'), { headers: { 'x-confirm': 'activation' } });

    const refused = await call('POST', at('/certificates/activation'), { body: 'no certificate', type: 'text/plain' });
    const before = await call('GET', at('/system/version'));
    const taken = await call('POST', at('/certificates/activation'), {
      body: licenceFor('lb-1'),
      type: 'text/plain',
    });
    const after = await call('GET', at('/system/version'));

    expect([refused.status, before.status, taken.status, after.status]).toEqual([400, 402, 200, 200]);
    expect(refused.json).toMatchObject({ error: 'true', message: expect.any(String) });
  });

  it('GET /certificates/activation answers its full information as text', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', at('/certificates/activation'));

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; charset=ISO-8859-1');
    expect(answer.text).toMatch(/Signature Algorithm:[\s\S]*Not After : /);
  });

  it('DELETE /certificates/activation deactivates the appliance: later calls get 402 with its own body', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('DELETE', at('/certificates/activation'), { headers: { 'x-confirm': 'lb-1' } });
    const [read, change] = [
      await call('GET', at('/farms')),
      await call('POST', at('/system/backup'), { json: { name: 'x1' } }),
    ];

    expect([answer.status, answer.json]).toEqual([200, success]);
    for (const refused of [read, change])
      expect([refused.status, refused.json]).toEqual([
        402,
        { message: expect.any(String), certificate_key: expect.any(String), hostname: 'lb-madrid' },
      ]);
  });

  it('GET /certificates lists the store with the fields of the document', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', at('/certificates'), { as: 'viewer' });

    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      description: expect.any(String),
      params: expect.arrayContaining([
        expect.objectContaining({
          CN: 'intranet.example.com',
          creation: expect.stringMatching(/^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT$/),
          expiration: expect.stringMatching(/GMT$/),
          file: 'intranet.pem',
          issuer: expect.any(String),
          type: 'Certificate',
        }),
      ]),
    });
  });

  it('GET /certificates/<file> downloads the file with its headers', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', at('/certificates/intranet.pem'));

    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      date: expect.stringMatching(/GMT$/),
      'content-disposition': 'attachment; filename="intranet.pem"',
      'content-type': 'application/x-download; charset=ISO-8859-1',
      'content-length': String(answer.bytes.length),
    });
    expect(answer.text).toMatch(/^-----BEGIN CERTIFICATE-----[\s\S]*-----END PRIVATE KEY-----\n$/);
  });

  it.each([
    ['UTF-8', Buffer.from('grüße.pem')],
    ['Latin-1', Buffer.from('grüße.pem', 'latin1')],
  ])('a download with a file name outside ASCII, in %s, gets a file name that is safe in a header', async (_, name) => {
    const disposition = `attachment; filename="${name.toString('latin1')}"`;
    const server = await startTlsServer((socket) => {
      socket.on('data', () =>
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/x-download\r\nContent-Length: 2\r\nContent-Disposition: ${disposition}\r\n\r\nab`,
          'latin1',
        ),
      );
    });
    const target = {
      url: new URL('/api/v4.0/api.cgi', server.url).href,
      fingerprintSha256: server.material.fingerprintSha256,
    };
    const { url, tokenOf } = await givenGateway({}, { target });

    const { text } = await exchangeRaw(
      url,
      `GET ${at('/certificates/x.pem')} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${tokenOf('admin')}\r\nConnection: close\r\n\r\n`,
    );

    const shown = 'gr' + '_'.repeat(name.length - 'gre.pem'.length) + 'e.pem';
    expect(text).toContain(`content-disposition: attachment; filename="${shown}"\r\n`);
    expect(text.endsWith('\r\n\r\nab')).toBe(true);
  });

  it('GET /certificates/<file>/info answers with text, not an object', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('GET', at('/certificates/intranet.pem/info'));

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.json).toBeUndefined();
    for (const part of [
      'Version: ',
      'Serial Number: ',
      'Signature Algorithm: ',
      'Issuer: ',
      'Not Before: ',
      'Not After : ',
      'Subject: ',
      'Public Key',
    ])
      expect(answer.text).toContain(part);
  });

  it('DELETE /certificates/<file> deletes it, or reports the farm that needs it', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    await call('POST', at('/certificates/old.pem'), {
      body: '-----BEGIN CERTIFICATE-----\n',
      type: 'application/x-pem-file',
    });

    const answer = await call('DELETE', at('/certificates/old.pem'), { headers: { 'x-confirm': 'old.pem' } });
    const again = await call('DELETE', at('/certificates/old.pem'), { headers: { 'x-confirm': 'old.pem' } });
    const inUse = await call('DELETE', at('/certificates/intranet.pem'), { headers: { 'x-confirm': 'intranet.pem' } });

    expect([answer.status, answer.json]).toEqual([200, success]);
    expect([again.status, inUse.status]).toEqual([404, 400]);
    expect([...appliance.world.certificates.keys()]).toEqual(expect.arrayContaining(['intranet.pem']));
    expect(appliance.world.certificates.has('old.pem')).toBe(false);
  });

  it('POST /certificates makes a signing request', async () => {
    const { call, audit } = await givenGateway({ 'lb-1': busyWorld() });
    const request = {
      name: 'new',
      fqdn: 'new.example.com',
      country: 'DE',
      state: 'Hessen',
      locality: 'Köln',
      organization: 'Example',
      division: 'IT',
      mail: 'it@example.com',
    };

    const answer = await call('POST', at('/certificates'), { json: request });
    const list = await call('GET', at('/certificates'));

    expect([answer.status, answer.json]).toEqual([200, success]);
    expect(list.json?.params).toContainEqual(
      expect.objectContaining({ file: 'new.csr', type: 'CSR', CN: 'new.example.com' }),
    );
    expect((await audit())[0]?.body).toEqual(request);
  });
});

describe('the creation of a farm in the API document', () => {
  it('answers an empty body with its four descriptors', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    const before = appliance.world.farms.size;

    const answer = await call('POST', at('/farms'), { json: {} });

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ description: expect.any(String), params: expect.any(Array) });
    const params = answer.json?.params as readonly {
      name: string;
      options?: readonly string[];
      possible_values?: readonly string[];
    }[];
    expect(params.map(({ name }) => name)).toEqual(expect.arrayContaining(['profile', 'vip', 'vport', 'farmname']));
    for (const name of ['profile', 'vip', 'farmname'])
      expect(params.find((param) => param.name === name)?.options).toContain('required');
    expect(params.find(({ name }) => name === 'profile')?.possible_values).toEqual(
      expect.arrayContaining(['http', 'gslb', 'l4xnat', 'datalink']),
    );
    expect(appliance.world.farms.size).toBe(before);
  });

  it('answers a missing body as the release does', async () => {
    const { call } = await givenGateway({ 'lb-1': busyWorld(), 'lb-old': olderEnterpriseWorld() });

    const newest = await call('POST', at('/farms'), { body: '', type: 'application/json' });
    const older = await call('POST', '/appliances/lb-old/farms', { body: '', type: 'application/json' });

    expect([newest.status, newest.json?.error]).toEqual([415, 'true']);
    expect([older.status, Array.isArray(older.json?.params)]).toEqual([400, true]);
  });

  it('creates the farm, or passes on the message of the appliance', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    const farm = { profile: 'http', vip: '192.0.2.40', vport: 9_090, farmname: 'new-1' };

    const made = await call('POST', at('/farms'), { json: farm, as: 'operator' });
    const again = await call('POST', at('/farms'), { json: farm });
    const wrong = await call('POST', at('/farms'), { json: { ...farm, farmname: 'under_score' } });

    expect([made.status, made.json?.params]).toEqual([201, { ...farm, vport: '9090', interface: 'eth0:web' }]);
    for (const answer of [again, wrong]) expect([answer.status, answer.json?.error]).toEqual([400, 'true']);
    expect(appliance.world.farms.has('new-1')).toBe(true);
  });
});

describe('the password change of the API document', () => {
  it('answers 400 or 200, and the audit never has a password', async () => {
    const { call, auditText, audit, logged } = await givenGateway({ 'lb-1': busyWorld() });

    const failed = await call('POST', at('/system/users'), {
      json: { password: 'not-it-Canary1', newpassword: 'new-Canary-22' },
    });
    const changed = await call('POST', at('/system/users'), {
      json: { password: 'admin', newpassword: 'new-Canary-22' },
    });
    const user = await call('GET', at('/system/users'));

    expect([failed.status, failed.json?.error]).toEqual([400, 'true']);
    expect(changed.status).toBe(200);
    expect([user.status, user.json?.params]).toEqual([200, expect.objectContaining({ user: 'root' })]);
    expect(
      (await audit())
        .filter(({ event, operation }) => event === 'intent' && operation === 'updateCallingUser')
        .map(({ body }) => body),
    ).toEqual([
      { password: '[redacted]', newpassword: '[redacted]' },
      { password: '[redacted]', newpassword: '[redacted]' },
    ]);
    expect(await auditText()).not.toContain('Canary');
    expect(logged.join('')).not.toContain('Canary');
  });
});

describe('the error statuses of the API document', () => {
  it.each(documentStatuses.filter(([status]) => status !== 401))(
    '%i passes unchanged, for reads and changes',
    async (status) => {
      const { call, appliance, audit } = await givenGateway({ 'lb-1': busyWorld() });
      const body = {
        description: 'A call',
        error: 'true',
        message: `Grüße, ${status}`,
        documentation: 'https://appliance.example/',
      };
      for (const route of ['GET /farms', 'POST /system/backup'])
        appliance.fail(route, { kind: 'status', status, body });

      const answers = [
        await call('GET', at('/farms')),
        await call('POST', at('/system/backup'), { json: { name: 'x1' } }),
      ];

      for (const answer of answers) {
        expect([answer.status, answer.json]).toEqual([status, body]);
        expect(answer.headers['content-type']).toBe('application/json');
      }
      expect(
        (await audit()).map(({ event, status: written, code, uncertain }) => [event, written, code, uncertain]),
      ).toEqual([
        ['intent', undefined, undefined, undefined],
        ['outcome', status, undefined, undefined],
      ]);
    },
  );

  it('401 becomes 502, because the key of the gateway was refused', async () => {
    const { call, appliance, audit } = await givenGateway({ 'lb-1': busyWorld() });
    appliance.fail('*', { kind: 'status', status: 401 });

    const answers = [
      await call('GET', at('/farms')),
      await call('POST', at('/system/backup'), { json: { name: 'x1' } }),
    ];

    for (const answer of answers) {
      expect(answer.json).toMatchObject({
        status: 502,
        code: 'upstream_unauthorized',
        remedy: expect.stringContaining('admin_api_key'),
      });
      expect(answer.headers).not.toHaveProperty('www-authenticate');
    }
    expect((await audit())[1]).toMatchObject({ event: 'outcome', status: 502, code: 'upstream_unauthorized' });
    expect((await audit())[1]).not.toHaveProperty('uncertain');
  });

  it.each([500, 502, 504])('%i as a page of the web server passes too', async (status) => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });
    appliance.fail('GET /farms', { kind: 'html', status });

    const answer = await call('GET', at('/farms'));

    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('text/html');
    // A page of somebody else must not run in a browser under our address.
    expect(answer.headers['content-security-policy']).toContain('sandbox');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('every verb and path of the tables of the API document', () => {
  it('is an operation of the gateway, which sends it to that path', async () => {
    const seen: string[] = [];
    const server = await startHttpsServer((response, request) => {
      seen.push(`${request.method} ${request.url?.replace('/api/v4.0/api.cgi', '')}`);
      request
        .resume()
        .once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"params":[]}'));
    });
    const target = {
      url: new URL('/api/v4.0/api.cgi', server.url).href,
      fingerprintSha256: server.material.fingerprintSha256,
    };
    const { call } = await givenGateway({}, { target });
    const operations = createOperations();

    for (const documented of apiDocumentOperations) {
      const [method = '', template = ''] = documented.split(' ');
      const path = template.replaceAll(/<\w+>/g, 'sample').replaceAll('*', 'sample');
      const { operation } = operations.find(method, path);
      const body = {
        none: {},
        json: { json: { a: 'b' } },
        text: { body: 'x', type: 'text/plain' },
        pem: { body: 'x', type: 'application/x-pem-file' },
        gzip: { body: 'x', type: 'application/gzip' },
      }[operation.row.body];
      const headers = { 'x-confirm': path.split('/').at(-1) ?? '', 'x-force': 'true', 'x-reason': 'for a test' };

      const answer = await call(method, at(path), { ...body, headers });

      expect(answer.status, documented).toBe(200);
      expect(seen.at(-1), documented).toBe(`${method} ${path}`);
    }
    console.log(`${apiDocumentOperations.length} verbs and paths of the API document sent on`);
  });
});
