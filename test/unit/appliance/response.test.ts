import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { type ApplianceResponse, checkResponse, codeOfStatus } from '../../../src/appliance/response.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { documentStatuses } from '../../support/api-document.ts';

const object = Type.Object({});

const check = (answer: Partial<ApplianceResponse>, schema: Parameters<typeof checkResponse>[1]['schema'] = object) =>
  checkResponse({ status: 200, mediaType: 'application/json', text: '{}', ...answer }, { schema, maxValues: 50 });

it('the statistics of a farm are read however many sessions it has, and store only their number', () => {
  const session = { session: '192.0.2.1', service: 'www', id: 0, backend_ip: '10.0.0.1', backend_port: 80 };
  const backends = [{ id: 0, ip: '10.0.0.1', port: 80, service: 'www', status: 'up' }];
  const text = JSON.stringify({ backends, sessions: Array.from({ length: 60_000 }, () => session) });

  expect(check({ text }, endpoints.readFarmStats.reply)).toMatchObject({ value: { sessions: 60_000, backends: [{}] } });
});

describe('a refusal', () => {
  it.each(documentStatuses)(
    'is for %i from the API %s, with its message, and proves the key unless it is 401',
    (...row) => {
      const [status, reason] = row;
      const text = '{"description":"A call","error":"true","message":"Nobody is at home"}';

      expect(check({ status, text })).toEqual({
        reason,
        because: `the appliance answered ${status}: Nobody is at home`,
        provesKey: status < 500 && status !== 401,
      });
    },
  );

  it.each([402, 403])(
    'proves the key for %i from a deactivated appliance, and shows nothing of the machine',
    (status) => {
      const text = '{"message":"There is no valid certificate","certificate_key":"machine-canary","hostname":"lb-a"}';

      const verdict = check({ status, text });

      expect(verdict).toMatchObject({ reason: 'unlicensed', provesKey: true });
      expect(JSON.stringify(verdict)).not.toContain('machine-canary');
    },
  );

  it.each([
    [403, 'application/json', '{"message":"no Route matched with those values"}'],
    [404, 'application/json', '{"kind":"Status","message":"not found"}'],
    [404, 'application/json', '[]'],
    [402, 'text/html', '<html></html>'],
    [429, 'application/json', 'slow down'],
    [502, 'application/json', '{}'],
  ])('does not prove the key for %i as %s with %s, from another server in front', (status, mediaType, text) => {
    expect(check({ status, mediaType, text }).provesKey).toBe(false);
  });

  it('quotes only the beginning of a message of megabytes', () => {
    const verdict = check({ status: 500, text: JSON.stringify({ message: 'no\n'.repeat(1_000_000) }) });

    expect(verdict).toMatchObject({
      reason: 'server_error',
      because: expect.stringMatching(/^the appliance answered 500: no/),
    });
    expect(JSON.stringify(verdict).length).toBeLessThan(2_000);
  });

  it('keeps the reason of its status, without a message, when it is too long to be parsed', () => {
    expect(check({ status: 500, text: `{"x":[${'[],'.repeat(100)}0],"message":"no"}` })).toMatchObject({
      reason: 'server_error',
      because: 'the appliance answered 500',
    });
  });
});

describe('a response with 200', () => {
  it.each([
    ['application/json', '{"par', /^the body is not JSON \(5 characters\)$/],
    ['application/json', '', /^the body is not JSON \(0 characters\)$/],
    ['text/html', '<html></html>', /^expected application\/json, got text\/html$/],
    ['', '{}', /^expected application\/json, got no content type$/],
    ['application/json', '[]', /must be/],
    ['application/json', '{"error":"true","message":"the daemon is away"}', /200 with an error: the daemon is away$/],
  ])('is malformed as %s with %j, and does not prove the key', (mediaType, text, because) => {
    expect(check({ mediaType, text })).toMatchObject({
      reason: 'malformed',
      because: expect.stringMatching(because),
      provesKey: false,
    });
  });

  it.each([
    ['text/plain', 'hello'],
    ['application/json', '{}'],
    ['application/json', '{"params":{}}'],
    ['application/json', '{"params":[]}'],
    ['text/html', '<html></html>'],
  ])('does not prove the key as %s with %s, because any server may respond so', (mediaType, text) => {
    const { readStats, readSystemVersion, listInterfaces, readActivationCertificate } = endpoints;

    for (const { reply } of [readStats, readSystemVersion, listInterfaces, readActivationCertificate])
      expect(check({ mediaType, text }, reply)).toMatchObject({ reason: 'malformed', provesKey: false });
  });

  it('is parsed as JSON even if an early release labels it as text, and as text only if the row requires it', () => {
    const { readActivationInfo, readActivationCertificate } = endpoints;
    const licence = { mediaType: 'text/plain', text: 'Not After : soon' };

    expect(
      check(
        { mediaType: 'text/plain', text: '{"params":{"days_to_expire":"216","type":"temporal"}}' },
        readActivationInfo.reply,
      ),
    ).toEqual({ value: { params: { days_to_expire: 216, type: 'temporal' } }, provesKey: true });
    expect(check(licence, readActivationCertificate.reply)).toEqual({ value: licence.text, provesKey: true });
    expect(check(licence)).toMatchObject({ reason: 'malformed' });
    expect(check({}, readActivationCertificate.reply)).toMatchObject({ reason: 'malformed' });
  });
});

it.each([
  [207, '2xx'],
  [303, '3xx'],
  [400, '400'],
  [418, '4xx'],
  [504, '504'],
  [599, '5xx'],
  [777, 'other'],
])('the status %i is counted as %s, so that invented ones create no series', (status, code) => {
  expect(codeOfStatus(status)).toBe(code);
});
