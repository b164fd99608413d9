import { describe, expect, it } from 'vitest';
import { type DryRunParts, dryRunCall } from '../../../src/admin/calls/dry-run.ts';
import { maskBody } from '../../../src/admin/calls/mask.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import type { World } from '../../../simulator/world.ts';
import { callOf, givenSession } from './given-session.ts';

type Asked = Partial<Omit<DryRunParts['call'], 'principal' | 'target' | 'body'> & DryRunParts['call']['principal']> & {
  readonly frozen?: boolean;
};

/** Plans on one appliance, as an admin unless told otherwise. */
async function givenPlans(world: World) {
  const { session, ...given } = await givenSession(world);
  const plan = (request: string, fields?: Record<string, unknown>, { frozen = false, ...asked }: Asked = {}) => {
    const content = Buffer.from(JSON.stringify(fields ?? {}));
    const contentType = 'application/json';
    const body = {
      contentType,
      contentLength: content.length,
      fields: fields ?? {},
      masked: maskBody(content, contentType),
    };
    const admin = { role: 'admin', deny: [], skipConfirmation: false, guards: 'refuse' } as const;
    const headers = { confirm: undefined, force: false, reason: undefined };
    return dryRunCall({
      call: {
        appliance: 'lb-1',
        target: callOf(request),
        body: fields ? body : undefined,
        ...headers,
        ...asked,
        principal: { ...admin, ...asked },
      },
      session,
      frozen,
      clearance: 'cleared',
      purpose: 'caller',
      cache: new Map(),
    });
  };
  return { ...given, plan };
}

const asOperator = { role: 'operator' } as const;
const start = { action: 'start' };

describe('the plan of a call', () => {
  it('shows the request, the parameters that the appliance describes, and the current object', async () => {
    const { plan, appliance } = await givenPlans(busyWorld());

    const made = await plan('PUT /farms/shop/services/api', {
      redirect: 'https://x.example/',
      ttl: 'long',
      nothing: 1,
    });

    expect(made).toEqual({
      dry_run: true,
      operation: 'updateService',
      risk: 'disruptive',
      request: {
        method: 'PUT',
        url: `${appliance.url}/api/v4.0/api.cgi/farms/shop/services/api`,
        headers: { 'content-type': 'application/json', 'content-length': '58' },
        body: { redirect: 'https://x.example/', ttl: 'long', nothing: 1 },
      },
      would: 'be refused',
      because: [
        'A redirect deletes all backends of the service api of shop, 2 in number: 0 (10.20.0.14:8081), 1 (10.20.0.15:8081).',
      ],
      confirmation: { required: false, expected: [], given: false },
      validation: {
        checked: true,
        problems: [
          expect.stringMatching(/^nothing is not a parameter of this call, which takes cookiedomain, .*, vhost\.$/),
        ],
        parameters: expect.arrayContaining([
          { name: 'ttl', required: false, non_blank: true, interval: 'A whole number from 0.', list: false },
        ]),
      },
      findings: [
        expect.objectContaining({
          guard: 'redirect_deletes_backends',
          severity: 'blocking',
          remedy: expect.any(String),
        }),
      ],
      current: {
        operation: 'readService',
        status: 200,
        body: expect.objectContaining({ params: expect.objectContaining({ id: 'api', redirect: '' }) }),
      },
    });
  });

  it('changes nothing, and sends only reads and the parameter discovery', async () => {
    const { plan, appliance, arrived } = await givenPlans(busyWorld());
    const before = JSON.stringify([...appliance.world.farms.values()]);
    const writes = [
      ['PUT /farms/shop/actions', { action: 'stop' }],
      ['POST /farms', { farmname: 'new', profile: 'http', vip: '192.0.2.40', vport: 99 }],
      ['DELETE /farms/shop', undefined],
      ['POST /system/factory', { interface: 'eth0', force: 'true' }],
      ['PUT /system/backup/new', undefined],
    ] as const;

    for (const [request, fields] of writes) await plan(request, fields, { confirm: 'shop', force: true });

    const asked = arrived().filter((line) => !line.startsWith('GET '));
    expect(asked).toEqual(['PUT /farms/shop/actions', 'POST /farms', 'POST /system/factory']);
    expect(JSON.stringify([...appliance.world.farms.values()])).toBe(before);
    expect(appliance.world.backups.has('new')).toBe(false);
  });

  it('shows only the request for a read', async () => {
    const { plan, arrived } = await givenPlans(busyWorld());

    const made = await plan('GET /farms/shop');

    expect(made).toMatchObject({
      would: 'be sent',
      because: [],
      findings: [],
      current: null,
      validation: { checked: false },
    });
    expect(made.request).toMatchObject({ method: 'GET', headers: {}, body: null });
    expect(arrived()).toEqual([]);
  });

  it('redacts the secrets of the body and of the current object', async () => {
    const { plan, appliance } = await givenPlans(recordedWorld());
    appliance.world.settings.snmpCommunity = 'canary-community';

    const made = await plan('POST /system/snmp', { community: 'canary-sent', port: 'canary-port' });

    expect(made.current).toMatchObject({
      operation: 'readSnmp',
      body: { params: { community: expect.stringMatching(/^\[redacted \d+ characters\]$/) } },
    });
    expect(made.request.body).toEqual({
      community: expect.stringMatching(/^\[redacted \d+ characters\]$/),
      port: 'canary-port',
    });
    expect(JSON.stringify({ ...made, request: null })).not.toContain('canary');
  });
});

describe('the predicted outcome of a call', () => {
  const outcome = async (request: string, parts: Asked, fields?: Record<string, unknown>) => {
    const { plan } = await givenPlans(busyWorld());
    const { current: _, ...predicted } = await plan(request, fields, parts);
    return predicted;
  };
  const sent = { would: 'be sent', because: [] };

  it.each<[string, Asked, readonly string[]]>([
    ['not confirmed', {}, ['X-Confirm must be shop.']],
    ['confirmed with another name', { confirm: 'Shop' }, ['X-Confirm must be shop.']],
    ['confirmed', { confirm: 'shop' }, []],
    ['sent by a client that cannot confirm', { skipConfirmation: true }, []],
    [
      'frozen',
      { confirm: 'shop', frozen: true },
      ['All changes are frozen; GET /freeze says who froze them, and why.'],
    ],
  ])('is correct for a deletion that is %s', async (_, parts, because) => {
    expect(await outcome('DELETE /farms/shop', parts)).toMatchObject(
      because.length === 0 ? sent : { would: 'be refused', because },
    );
  });

  it.each<[string, Asked, object]>([
    [
      'not forced',
      { reason: 'night shift' },
      { would: 'be refused', because: [expect.stringContaining('kills a running farm')] },
    ],
    [
      'forced without a reason',
      { force: true },
      { would: 'be refused', because: ['A forced call needs a reason, in X-Reason.'] },
    ],
    ['forced with a reason', { force: true, reason: 'night shift' }, { ...sent, forced: ['hard_restart'] }],
    ['overridden by its token', { guards: 'warn' }, { ...sent, warned: ['hard_restart'] }],
  ])('is correct for a guard that is %s', async (_, parts, expected) => {
    expect(await outcome('PUT /farms/shop/actions', parts, start)).toMatchObject(expected);
  });
});

describe('the current object in a plan', () => {
  it.each([
    ['PUT /farms/shop/actions', 'readFarm'],
    ['POST /farms', 'listFarms'],
    ['DELETE /farms/shop/services/front/backends/0', 'listServiceBackends'],
    ['PUT /farms/db/backends/1/maintenance', 'listFarmBackends'],
    ['POST /interfaces/nic/eth0/actions', 'readNic'],
    ['DELETE /certificates/intranet.pem', 'listCertificates'],
    ['POST /system/backup/weekly/actions', 'listBackups'],
    ['POST /system/dns', 'readDns'],
    ['POST /routing/rules', 'listRoutingRules'],
  ])('is read for %s by %s', async (request, operation) => {
    const { plan } = await givenPlans(busyWorld());

    expect((await plan(request, request.startsWith('DELETE') ? undefined : {})).current).toMatchObject({
      operation,
      status: 200,
      body: { description: expect.any(String) },
    });
  });

  it('is null when no read fits', async () => {
    const { plan } = await givenPlans(busyWorld());

    expect((await plan('POST /system/factory', {})).current).toBeNull();
  });

  it('omits what the caller may not read', async () => {
    const { plan, arrived } = await givenPlans(recordedWorld());

    expect((await plan('POST /system/snmp', {}, asOperator)).current).toBeNull();
    expect((await plan('PUT /farms/webshop/actions', {}, { deny: ['readFarm'] })).current).toMatchObject({
      operation: 'listFarms',
    });
    expect(arrived()).not.toContain('GET /system/snmp');
  });

  it('is text when the appliance responds with text, without its key', async () => {
    const { plan } = await givenPlans(busyWorld());

    const made = await plan('DELETE /certificates/activation');

    expect(made.current).toMatchObject({
      operation: 'readActivationCertificate',
      status: 200,
      body: expect.any(String),
    });
    expect(JSON.stringify(made.current)).toMatch(/BEGIN [A-Z ]+-----(?:\\n)?\[redacted \d+ characters\]/);
  });

  it('is omitted when it is too large', async () => {
    const { plan, appliance } = await givenPlans(busyWorld());
    appliance.fail('GET /farms', { kind: 'huge_body', bytes: 400_000 });

    expect((await plan('POST /farms', {})).current).toEqual({
      operation: 'listFarms',
      status: 200,
      body: 'Left out: the answer is longer than 262144 bytes, or has too many parts.',
    });
  });
});

describe('a plan for a failing appliance', () => {
  it('says why there are no parameters, and shows the refusal instead of the object', async () => {
    const { plan } = await givenPlans(busyWorld());

    const { validation, current } = await plan('PUT /farms/nowhere/actions', start);

    expect(validation).toEqual({
      checked: false,
      note: expect.stringContaining('answered 404 instead of the parameters'),
      problems: [],
    });
    expect(current).toMatchObject({ operation: 'readFarm', status: 404, body: { error: 'true' } });
  });

  it('runs no parameter discovery during a freeze, because it uses the verb of the change', async () => {
    const { plan, arrived } = await givenPlans(busyWorld());

    const made = await plan('PUT /farms/shop/actions', start, { frozen: true });

    expect(made.validation).toEqual({
      checked: false,
      note: 'All changes are frozen, and the question for parameters is a PUT as well; it was not sent.',
      problems: [],
    });
    expect(made).toMatchObject({ would: 'be refused', current: { operation: 'readFarm' } });
    expect(arrived().filter((line) => !line.startsWith('GET '))).toEqual([]);
  });

  it('is made without a connection, and predicts a refusal', async () => {
    const { plan, appliance } = await givenPlans(busyWorld());
    appliance.fail('*', { kind: 'refuse' });

    const made = await plan('PUT /farms/shop/actions', start);

    expect(made).toMatchObject({ would: 'be refused', current: null, validation: { checked: false } });
    expect(made.findings[0]?.message).toMatch(
      /^It could not be checked whether the call is safe: GET \/farms\/modules\/summary: /,
    );
  });
});
