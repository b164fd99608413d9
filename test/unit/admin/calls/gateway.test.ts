import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Farm } from '../../../../src/appliance/farm.ts';
import type { RelayRequest } from '../../../../src/appliance/relay.ts';
import type { AuditRecord } from '../../../../src/admin/journal/record.ts';
import { createFreezeSwitch } from '../../../../src/admin/policy/freeze.ts';
import { Gateway, type GatewayParts } from '../../../../src/admin/calls/gateway.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { createPrincipals, type Principal } from '../../../../src/admin/policy/principal.ts';
import type { AdminAppliance } from '../../../../src/admin/calls/session.ts';
import { createRecorder } from '../../../../src/admin/calls/recorder.ts';
import type { AdminCall, CallPermit, ReadSnapshot } from '../../../../src/admin/calls/admin-call.ts';
import { readRequestBody, type UnreadBody } from '../../../../src/admin/calls/request-body.ts';
import { createRequestQueue } from '../../../../src/admin/calls/request-queue.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { steadyNow } from '../../../../src/lib/time.ts';
import { listening } from '../../../support/listening.ts';
import { givenBodyMemory } from '../../../support/given-body-memory.ts';
import { until, untilIs } from '../../../support/until.ts';
import { givenEntry, givenPrincipal } from '../../../support/given-principal.ts';

const token = 'token-Zq7x-0123456789';
const expiresAtMs = Date.parse('2027-01-01T00:00:00Z');
const entry = givenEntry(token, { expiresAtMs });
/** Replies for the guards; a stopped farm may be started. */
const stoppedFarm = {
  readFarmsSummary: { params: { lslb: [{ name: 'shop', profile: 'http' }] } },
  readFarmStatus: { params: { status: 'down' } },
  listFarms: { params: [] },
};

/** Moments at which a request for the farm `shop` waits, after it has a slot of the queue. */
type Moment = 'firstRead' | 'guards' | 'intent' | 'probe';

type Sending = Partial<UnreadBody & Pick<AdminCall, 'principal' | 'permit'>> & { readonly method?: string };

/** A gateway on an appliance and a journal in memory; `during` has what happens at each moment. */
async function givenSteps({ timeoutMs = 10_000 } = {}) {
  const clock = { ms: expiresAtMs - 60_000 };
  const during: Partial<Record<Moment, () => Promise<void>>> = {};
  const farm = { status: 'down' };
  /** The farms as polling read them last. */
  const polled: { farms?: readonly Farm[] } = {};
  const records: AuditRecord[] = [];
  const sent: string[] = [];
  const reads: string[] = [];
  const answered = Promise.withResolvers<void>();
  const queue = createRequestQueue({ maxReads: () => 1, maxWaiting: 16, maxQueueWaitMs: 30_000 });
  let queued = 0;
  const principals = createPrincipals([entry], () => clock.ms);
  const freeze = createFreezeSwitch(
    () => clock.ms,
    () => undefined,
  );

  const applianceAt = (place: string): AdminAppliance =>
    ({
      name: 'lb-1',
      knownFarms: () => polled.farms,
      client: {
        async read(key: keyof typeof stoppedFarm) {
          reads.push(key);
          if (key === 'readFarmsSummary') await during.firstRead?.();
          if (key === 'readFarmStatus') await during.guards?.();
          return key === 'readFarmStatus' ? { params: { status: farm.status } } : stoppedFarm[key];
        },
      },
      relay: {
        urlOf: (path: string) => `https://${place}${path}`,
        async send({ method, path, body, beforeSending }: RelayRequest) {
          if (path.includes('/shop') || path.includes('/backup')) await during.probe?.();
          beforeSending?.();
          if (body instanceof Readable) for await (const _ of body);
          sent.push(`${place} ${method} ${path}`);
          if (path.includes('/other')) await answered.promise;
          return { status: 200, headers: {}, body: Buffer.from('{"params":[]}') };
        },
      },
    }) as unknown as AdminAppliance;

  const appliances = new Map([['lb-1', applianceAt('old')]]);
  const operations = createOperations();
  const bodyLimits = { timeoutMs: () => 10_000, memory: givenBodyMemory() };
  const parts: GatewayParts = {
    appliances,
    queue: {
      run(queuedRequest, work) {
        queued += 1;
        return queue.run(queuedRequest, work);
      },
    },
    recorder: createRecorder({
      journal: {
        async append(record) {
          records.push(record);
          if (record.event === 'intent' && !record.path.includes('/other')) await during.intent?.();
          return { seq: records.length, hash: '' };
        },
      },
      keys: () => [],
      isToken: () => false,
      onLost: () => undefined,
      steadyNow: () => clock.ms,
      maxDenialsPerMinute: 60,
    }),
    freeze,
    principals,
    approvals: () => ({ requiredFor: [] }),
    memory: bodyLimits.memory,
    timeoutMs: () => timeoutMs,
    vipLimitsOf: () => ({ networks: ['127.0.0.0/8'], connectTo: {} }),
    sleep: () => Promise.resolve(),
    metrics: { countCall: () => undefined, countOverridden: () => undefined },
    log: { warn: () => undefined },
    recordInHistory: () => () => undefined,
    refresh: () => undefined,
  };
  const gateway = new Gateway(parts);

  function known(): Principal {
    const found = principals.identify(token);
    if (!found || !('principal' in found)) throw new Error('the token is in force at first');
    return found.principal;
  }

  /** Makes a call as the listener does, and sends it, or makes its dry run. */
  function request(
    path: string,
    { method = 'PUT', principal = known(), permit, ...more }: Sending = {},
    step: 'send' | 'plan' = 'send',
  ) {
    const leaving = new AbortController();
    const target = operations.find(method, path);
    const body = Readable.from([Buffer.from('{"action":"start"}')]);
    const unread = { contentType: 'application/json', contentLength: undefined, body, ...more };
    const asked = {
      id: 'request-1',
      principal,
      token: new Secret(token),
      address: '192.0.2.7',
      appliance: 'lb-1',
      target,
      reason: undefined,
      force: false,
      breakGlass: false,
      signal: leaving.signal,
      permit,
    };
    let made: AdminCall | undefined;
    const sending = async () => {
      const read = await readRequestBody(target.operation.row.body, unread, bodyLimits);
      made = { ...asked, body: read, stage: 'new' };
      if (step === 'plan') return await gateway.dryRun(made);
      return await gateway.send(made);
    };
    const answer = sending();
    answer.catch(() => undefined);
    return { answer, leave: () => leaving.abort(), progress: () => made?.stage };
  }

  /** Asks which parameters an operation takes. */
  function ask(path: string) {
    const leaving = new AbortController();
    const call = operations.find('PUT', path);
    const caller = {
      id: 'request-1',
      principal: known(),
      token: new Secret(token),
      address: '192.0.2.7',
      signal: leaving.signal,
    };
    const answer = new Gateway(parts).parametersOf(call, { ...caller, appliance: 'lb-1' });
    answer.catch(() => undefined);
    return { answer, leave: () => leaving.abort() };
  }

  /** Makes a request that waits in the queue until `release` is called. */
  async function inQueue<Made extends object>(kind: 'write' | 'read', make: () => Made) {
    if (kind === 'write') request('/farms/other/actions');
    else request('/farms/other/status', { method: 'GET', body: undefined });
    await untilIs(() => sent.length, 1);
    const waiting = make();
    await untilIs(() => queued, 2);
    return { ...waiting, release: () => answered.resolve() };
  }

  return {
    during,
    records: () => records.filter(({ path }) => !path.includes('/other')),
    sent: () => sent.filter((call) => !call.includes('/other')),
    reads,
    changes: () => gateway.writeCountOf('lb-1'),
    queued: () => queued,
    appliances,
    applianceAt,
    request,
    ask,
    inQueue,
    freeze: () => freeze.freeze({ by: 'bob', reason: 'incident' }, async () => undefined),
    expire: async () => void (clock.ms = expiresAtMs),
    withdraw: async () => principals.replace([]),
    close: async () => {
      void queue.close(0);
      // Its grace of 0 ms is a timer too.
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
    farm,
    polled,
    narrow: (appliances: readonly string[]) => principals.replace([{ ...entry, appliances }]),
  };
}

type Steps = Awaited<ReturnType<typeof givenSteps>>;

/** Expects this problem, and that neither the appliance nor the audit has the call. */
async function expectRefused(steps: Steps, answer: Promise<unknown>, code: string): Promise<void> {
  await expect(answer).rejects.toMatchObject({ code });
  expect(steps.sent()).toEqual([]);
  expect(steps.records()).toEqual([]);
}

const start = '/farms/shop/actions';
const events = [
  { what: 'changes are frozen', code: 'frozen', happen: (steps: Steps) => steps.freeze() },
  { what: 'the token expires', code: 'token_expired', happen: (steps: Steps) => steps.expire() },
  { what: 'a reload removes the token', code: 'unauthenticated', happen: (steps: Steps) => steps.withdraw() },
  { what: 'the caller leaves', code: 'caller_left', happen: async (_: Steps, leave: () => void) => leave() },
  { what: 'the gateway closes', code: 'caller_left', happen: (steps: Steps) => steps.close() },
];

/** The plan of an approved change that starts the farm. */
const permitOf = (reads: ReadSnapshot, isRollback = false): CallPermit => ({
  requestedBy: 'alice',
  approvedBy: 'bob',
  isApproved: true,
  urls: new Set([`https://old${start}`]),
  guards: new Set(),
  isRollback,
  reads,
});

describe('a change whose approval has just read everything', () => {
  const answers = () =>
    new Map<string, Promise<unknown>>([
      ['readFarmsSummary {}', Promise.resolve(stoppedFarm.readFarmsSummary)],
      ['readFarmStatus {"farmname":"shop"}', Promise.resolve(stoppedFarm.readFarmStatus)],
    ]);

  it('is sent without another read', async () => {
    const steps = await givenSteps();
    const permit = permitOf({ cache: answers(), writeCount: steps.changes(), atSteadyMs: steadyNow() });

    await steps.request(start, { permit }).answer;

    expect(steps.reads).toEqual([]);
    expect(steps.sent()).toHaveLength(1);
  });

  it.each(['a change was sent since', 'it was read a second ago'])('is checked again if %s', async (why) => {
    const steps = await givenSteps();
    const atSteadyMs = why.includes('ago') ? steadyNow() - 1_000 : steadyNow();
    const permit = permitOf({ cache: answers(), writeCount: steps.changes(), atSteadyMs });
    if (why.includes('since')) await steps.request('/farms/shop/backends', { method: 'POST' }).answer;
    steps.farm.status = 'up';

    await expect(steps.request(start, { permit }).answer).rejects.toMatchObject({ code: 'guarded' });
    expect(steps.reads).toContain('readFarmStatus');
  });
});

describe('a waiting change', () => {
  it.each(events)('is not sent when $what while it is queued', async ({ code, happen }) => {
    const steps = await givenSteps();
    const { answer, leave, release } = await steps.inQueue('write', () => steps.request(start));

    await happen(steps, leave);
    release();

    await expectRefused(steps, answer, code);
  });

  it.each(events)('is not sent when $what during an upload', async ({ code, happen }) => {
    const steps = await givenSteps();
    let leave = (): void => undefined;
    async function* file() {
      yield Buffer.from('first');
      await happen(steps, leave);
      yield Buffer.from('second');
    }

    const upload = steps.request('/system/backup/one', {
      body: Readable.from(file()),
      contentType: 'application/gzip',
      contentLength: 11,
    });
    leave = upload.leave;

    await expectRefused(steps, upload.answer, code);
  });

  const pauses = [
    { pause: 'the reads of its guards', moment: 'guards', recorded: [] },
    { pause: 'the disk that takes its intent', moment: 'intent', recorded: ['intent', 'outcome'] },
    { pause: 'the path of the API', moment: 'probe', recorded: ['intent', 'outcome'] },
  ] as const;

  it.each(pauses.flatMap((each) => events.map((event) => ({ ...each, ...event }))))(
    'is not sent when $what while it waits for $pause',
    async ({ moment, recorded, code, happen }) => {
      const steps = await givenSteps();
      steps.during[moment] = () => happen(steps, leave);

      const { answer, leave, progress } = steps.request(start);

      await expect(answer).rejects.toMatchObject({ code });
      expect(steps.sent()).toEqual([]);
      expect(progress()).toBe(recorded.length > 0 ? 'recorded' : 'new');
      const [, outcome = { code }] = steps.records();
      expect(steps.records().map(({ event }) => event)).toEqual(recorded);
      expect(outcome).toMatchObject({ code });
      for (const field of ['uncertain', 'sent_bytes']) expect(outcome).not.toHaveProperty(field);
    },
  );
});

describe('a call of a rollback', () => {
  const permit = permitOf({ cache: new Map(), writeCount: -1, atSteadyMs: 0 }, true);
  const isOfToken = ({ what }: (typeof events)[number]): boolean => what.includes('token');
  /** Sends it, and lets the event happen while it is in the queue. */
  async function sendDuring(steps: Steps, happen: (typeof events)[number]['happen']) {
    const { answer, leave, release } = await steps.inQueue('write', () => steps.request(start, { permit }));
    await happen(steps, leave);
    release();
    return { answer };
  }

  it.each(events.filter(isOfToken))('is sent, and recorded with its token, although $what', async ({ happen }) => {
    const steps = await givenSteps();

    await (await sendDuring(steps, happen)).answer;

    expect(steps.sent()).toEqual([`old PUT ${start}`]);
    expect(steps.records()).toMatchObject([
      { event: 'intent', principal: entry.name, requested_by: 'alice' },
      { event: 'outcome', principal: entry.name, status: 200 },
    ]);
  });

  it.each(events.filter((event) => !isOfToken(event)))('is not sent when $what', async ({ code, happen }) => {
    const steps = await givenSteps();

    await expectRefused(steps, (await sendDuring(steps, happen)).answer, code);
  });
});

it('a plain read that is refused right before it is sent is refused like a new one: the audit has no outcome of it', async () => {
  const steps = await givenSteps();
  steps.during.probe = () => steps.expire();

  const { answer, progress } = steps.request('/farms/shop/status', { method: 'GET', body: undefined });

  await expect(answer).rejects.toMatchObject({ code: 'token_expired' });
  expect([progress(), steps.records()]).toEqual(['new', []]);
});

interface Made {
  readonly answer: Promise<unknown>;
  readonly leave: () => void;
}

const questions = [
  {
    question: 'a dry run',
    make: (steps: Steps): Made => steps.request(start, {}, 'plan'),
    ends: events.filter(({ code }) => code !== 'frozen'),
  },
  { question: 'a question for parameters', make: (steps: Steps): Made => steps.ask(start), ends: events },
];

describe.each(questions)('$question in the queue', ({ make, ends }) => {
  it.each(ends)('is not sent when $what', async ({ code, happen }) => {
    const steps = await givenSteps();
    const { answer, leave, release } = await steps.inQueue('read', () => make(steps));

    await happen(steps, leave);
    release();

    await expectRefused(steps, answer, code);
    expect(steps.reads).toEqual([]);
  });

  it('uses the new connections when a reload has replaced its appliance', async () => {
    const steps = await givenSteps();
    const { answer, release } = await steps.inQueue('read', () => make(steps));

    steps.appliances.set('lb-1', steps.applianceAt('new'));
    release();

    await answer;
    expect(steps.sent()).toContain(`new PUT ${start}`);
    expect(steps.sent().filter((call) => call.startsWith('old'))).toEqual([]);
  });
});

it('a queued change is refused as soon as changes are frozen', async () => {
  const steps = await givenSteps();
  const { answer } = await steps.inQueue('write', () => steps.request(start));

  await steps.freeze();

  await expect(answer).rejects.toMatchObject({ code: 'frozen' });
});

it('a parameter discovery is refused instead of queued while changes are frozen', async () => {
  const steps = await givenSteps();
  await steps.freeze();

  await expect(steps.ask(start).answer).rejects.toMatchObject({ code: 'frozen' });

  expect(steps.queued()).toBe(0);
});

it.each([
  ['a read that changes something at every call', '/system/support', 'be refused'],
  ['a read', '/farms/shop/status', 'be sent'],
])('a dry run tells what a freeze does to %s', async (_, path, would) => {
  const steps = await givenSteps();
  await steps.freeze();

  const dryRun = steps.request(path, { method: 'GET', body: undefined }, 'plan').answer;

  expect(await dryRun).toMatchObject({ would });
});

it('guards make no further read once the caller has disconnected', async () => {
  const steps = await givenSteps();
  steps.during.firstRead = async () => leave();

  const { answer, leave } = steps.request(start);

  await expect(answer).rejects.toMatchObject({ code: 'caller_left' });
  expect(steps.reads).toEqual(['readFarmsSummary']);
});

it('a dry run discovers no parameters once its caller has disconnected', async () => {
  const steps = await givenSteps();
  steps.during.guards = async () => leave();

  const { answer, leave } = steps.request(start, {}, 'plan');

  await answer.catch(() => undefined);
  expect(steps.sent()).toEqual([]);
});

it('a change is not sent after its caller got a timeout', async () => {
  const steps = await givenSteps({ timeoutMs: 20 });
  const found = Promise.withResolvers<void>();
  steps.during.probe = () => found.promise;

  await expect(steps.request(start).answer).rejects.toMatchObject({ code: 'upstream_timeout' });
  found.resolve();

  const [, outcome] = await until(steps.records, (lines) => lines.length === 2);
  expect(outcome).toMatchObject({ event: 'outcome' });
  expect(outcome).not.toHaveProperty('uncertain');
  expect(steps.sent()).toEqual([]);
});

it('a queued change is sent over the new connections after a reload of its appliance', async () => {
  const steps = await givenSteps();
  const { answer, release } = await steps.inQueue('write', () => steps.request(start));

  steps.appliances.set('lb-1', steps.applianceAt('new'));
  release();

  expect(await answer).toMatchObject({ status: 200 });
  expect(steps.sent()).toEqual([`new PUT ${start}`]);
});

it('a queued change is refused when a reload has removed its appliance', async () => {
  const steps = await givenSteps();
  const { answer, release } = await steps.inQueue('write', () => steps.request(start));

  steps.appliances.delete('lb-1');
  release();

  await expectRefused(steps, answer, 'unknown_appliance');
});

it('a principal that only plans repairs cannot send a change', async () => {
  const steps = await givenSteps();
  const principal = givenPrincipal({ plansOnly: true });

  await expectRefused(steps, steps.request(start, { principal }).answer, 'role_too_low');
  expect(steps.reads).toEqual([]);
});

it('a token that does not cover the appliance is refused, whatever the call', async () => {
  const steps = await givenSteps();
  steps.narrow(['lb-2']);

  await expect(steps.request(start).answer).rejects.toMatchObject({ code: 'appliance_denied' });
});

it('a change during a freeze is refused before its confirmation is checked, and nothing is read', async () => {
  const steps = await givenSteps();
  await steps.freeze();
  const deletion = { method: 'DELETE', body: undefined, contentType: undefined };

  await expectRefused(steps, steps.request('/farms/shop', deletion).answer, 'frozen');
  expect(steps.reads).toEqual([]);
});

/** L4 farms, of which `shop` is called and `mail` listens, and the connections to it. */
async function givenL4Farms() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const place = { profile: 'l4xnat', state: 'up', vip: '127.0.0.1', vport: String(await listening(server)) };
  return { farms: ['shop', 'mail'].map((name) => ({ ...place, name })), connections: () => connections };
}

it('a call from outside connects to other L4 farms once it has its slot, and again after it', async () => {
  const steps = await givenSteps();
  const { farms, connections } = await givenL4Farms();
  steps.polled.farms = farms;
  let before: number | undefined;
  steps.during.intent = async () => {
    await untilIs(connections, 1);
    before = connections();
  };

  expect(await steps.request(start).answer).toMatchObject({ status: 200 });

  await untilIs(connections, 2);
  expect(before).toBe(1);
});

it('a call from outside that gets no slot connects to no farm', async () => {
  const steps = await givenSteps();
  const { farms, connections } = await givenL4Farms();
  const waiting = await steps.inQueue('write', () => {
    steps.polled.farms = farms;
    return steps.request(start);
  });

  await steps.freeze();

  await expectRefused(steps, waiting.answer, 'frozen');
  waiting.release();
  expect(connections()).toBe(0);
});
