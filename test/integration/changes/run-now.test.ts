import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent, ShownChange } from '../../../src/admin/changes/change.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { givenFolder } from '../../support/folder.ts';
import type { GivenOptions } from '../../support/given-gateway.ts';
import { givenEntry } from '../../support/given-principal.ts';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { issue } from '../../support/issue.ts';
import { storedChange } from '../../support/journal-file.ts';
import { until } from '../../support/until.ts';
import { fileOf, isNew, worldWith } from '../deliver/given-deliver.ts';
import { givenApprovals } from './given-approvals.ts';

type Given = Awaited<ReturnType<typeof givenApprovals>>;

const restart = 'PUT /farms/shop/actions 200';
const restartShop = { recipe: 'restart-farm', parameters: { farm: 'shop' } };
const drain = { recipe: 'drain-backend', parameters: { farm: 'shop', backend: '10.20.0.11:8080' } };

function eventsOf(text: string): readonly ChangeEvent[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as ChangeEvent)));
}

function overOf(text: string): ShownChange {
  const last = eventsOf(text).at(-1);
  if (last?.event !== 'over') throw new Error(`it is not over: ${text}`);
  return last.change;
}

/** Lets a change run for a caller who can leave; resolves once its step waits. */
async function startWaiting({ url, tokenOf }: Given, asked: object, step: number, as: 'alice' | 'root' = 'alice') {
  const leaving = new AbortController();
  const { body } = await request(`${url}/changes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf(as)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ appliance: 'lb-1', reason: 'a test', run: 'now', ...asked }),
    signal: leaving.signal,
  });
  let text = '';
  body.on('error', () => undefined);
  body.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(
    () => text,
    (seen) => seen.includes(`"begin","step":${step}`),
  );
  const [started] = eventsOf(text.slice(0, text.lastIndexOf('\n')));
  const id = started?.event === 'started' ? started.change.id : '';
  return { id, leave: () => leaving.abort() };
}

describe('a dry run of a change', () => {
  it('returns its plan for people and for programs, and changes nothing', async () => {
    const { call, sent, audit } = await givenApprovals();

    const { status, json } = await call('alice', 'POST', '/changes?dry_run=true', {
      appliance: 'lb-1',
      ...restartShop,
    });

    expect(status).toBe(200);
    expect(json).toMatchObject({
      dry_run: true,
      appliance: 'lb-1',
      title: 'restart-farm farm=shop',
      would: 'be sent',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      plan: { steps: [{ call: { operation: 'actOnFarm', body: { action: 'restart' } }, would: 'be sent' }, {}, {}] },
    });
    const lines = json?.lines as readonly string[];
    expect(lines[0]).toMatch(/^Farm shop \(https\) at 192\.0\.2\.40:443 is problem/);
    expect(lines.slice(lines.indexOf('Plan'), lines.indexOf('Plan') + 3)).toEqual([
      'Plan',
      '  1. Restart shop',
      expect.stringMatching(/^ {5}! restart_may_leave_down: /),
    ]);
    expect((await call('root', 'GET', '/changes')).json?.changes).toEqual([]);
    expect([sent(), await audit()]).toEqual([[], []]);
  });

  it('reports what would be refused, and what needs approval', async () => {
    const { call } = await givenApprovals();
    const plan = async (asked: object) =>
      (await call('root', 'POST', '/changes?dry_run=true', { appliance: 'lb-1', ...asked })).json;
    const remove = { operation: 'deleteFarm', parameters: { farmname: 'oldportal' } };

    const waits = await plan(remove);
    await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'night' });
    const frozen = await plan(restartShop);

    expect([waits?.would, frozen?.would]).toEqual(['wait for approval', 'be refused']);
    expect(frozen?.lines).toContainEqual(expect.stringContaining('✗ All changes are frozen'));
  });

  it.each([
    ['a viewer', 'dave', '?dry_run=true', {}, 'role_too_low'],
    ['another value of dry_run', 'alice', '?dry_run=yes', {}, 'malformed_request'],
    ['a misspelt query', 'alice', '?dryrun=true', {}, 'malformed_request'],
    ['another appliance', 'alice', '?dry_run=true', { appliance: 'lb-9' }, 'unknown_appliance'],
  ] as const)('is refused for %s', async (_, as, query, other, code) => {
    const { call, sent } = await givenApprovals();

    const answer = await call(as, 'POST', `/changes${query}`, { appliance: 'lb-1', ...restartShop, ...other });

    expect(answer.json?.code).toBe(code);
    expect(sent()).toEqual([]);
  });
});

describe('a change that runs now', () => {
  it('reports each step, the same in the response, in the list and on disk', async () => {
    const { ask, read, sent, audit, journalFile } = await givenApprovals();

    const { status, headers, text } = await ask('alice', { run: 'now' });

    const events = eventsOf(text);
    const over = overOf(text);
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    expect(events.map((each) => ('step' in each ? `${each.event} ${each.step}` : each.event))).toEqual([
      'started',
      'begin 1',
      'end 1',
      'begin 2',
      'end 2',
      'begin 3',
      'end 3',
      'over',
    ]);
    const told = events.flatMap((each) => (each.event === 'end' ? each.line : []));
    expect(over).toMatchObject({ state: 'done', outcome: { lines: told, code: null, sent: true } });
    expect(over.decision).toMatchObject({ by: 'alice', what: 'started', reason: 'a test' });
    expect(await read(over.id)).toMatchObject({ state: 'done', outcome: over.outcome, decision: over.decision });
    expect(JSON.parse(storedChange(journalFile, over.id))).toMatchObject({
      change: { state: 'done', outcome: over.outcome },
      sealed: null,
    });
    expect(sent()).toEqual([restart]);
    const ofChange = (await audit()).filter(({ request: id }) => id === over.id);
    expect(ofChange.map(({ event, state, principal }) => [event, state, principal])).toEqual([
      ['change', 'approved', 'alice'],
      ['change', 'executing', '-'],
      ['intent', undefined, 'alice'],
      ['outcome', undefined, 'alice'],
      ['change', 'done', '-'],
    ]);
  });

  it('reports a failure the same everywhere, with what to do', async () => {
    const { ask, read, appliance } = await givenApprovals();
    const shop = appliance.world.farms.get('shop');
    if (shop?.profile === 'http') shop.configError = 'There is no such cipher.';

    const { text } = await ask('alice', { run: 'now' });

    const over = overOf(text);
    expect(over.state).toBe('failed');
    expect(over.outcome?.lines).toEqual([
      expect.stringMatching(/^✗ 1\. Restart shop: .*There is no such cipher\./),
      'Nothing was changed before that.',
      'Not done: 2. Wait until it is up, or as good as before, 2m at most; 3. Compare before and after.',
    ]);
    expect((await read(over.id)).outcome).toEqual(over.outcome);
  });

  it('executes only the plan that was read', async () => {
    const { call, ask, appliance, sent } = await givenApprovals();
    const plan = async (asked: object) =>
      (await call('alice', 'POST', '/changes?dry_run=true', { appliance: 'lb-1', ...asked })).json;
    const stop = {
      recipe: undefined,
      operation: 'actOnFarm',
      parameters: { farmname: 'shop' },
      body: { action: 'stop' },
    };
    const backup = await plan({ recipe: 'backup' });
    const looked = await plan(stop);
    appliance.world.farms.get('shop')!.vport = '8443';

    const other = await ask('alice', { ...stop, run: 'now', digest: looked?.digest, asked_at: looked?.asked_at });
    const named = { recipe: 'backup', parameters: {}, run: 'now', digest: backup?.digest };
    // Its name has the time of the dry run.
    const same = await ask('alice', { ...named, asked_at: backup?.asked_at });
    const old = await ask('alice', { ...named, asked_at: '2026-11-01T00:00:00.000Z' });

    expect(other.json?.code).toBe('plan_changed');
    expect(overOf(same.text).state).toBe('done');
    expect(old.json?.code).toBe('malformed_body');
    expect(sent()).toEqual([expect.stringMatching(/^POST \/system\/backup 20/)]);
  });

  it('deletes only what the caller has read in a plan', async () => {
    const { call, ask, sent } = await givenApprovals({ approvals: { requiredFor: [] } });
    const remove = { recipe: undefined, operation: 'deleteFarm', parameters: { farmname: 'oldportal' } };
    const looked = await call('root', 'POST', '/changes?dry_run=true', { appliance: 'lb-1', ...remove });

    const blind = await ask('root', { ...remove, run: 'now' });
    const before = sent();
    const { digest, asked_at } = looked.json ?? {};
    const seen = await ask('root', { ...remove, run: 'now', digest, asked_at });

    expect(blind).toMatchObject({ status: 428, json: { code: 'confirmation_required' } });
    expect(before).toEqual([]);
    expect(overOf(seen.text).state).toBe('done');
    expect(sent()).toEqual(['DELETE /farms/oldportal 200']);
  });

  it('waits instead when one of its calls needs approval, unless it breaks glass', async () => {
    const { call, ask, sent, audit } = await givenApprovals();
    const remove = { appliance: 'lb-1', operation: 'deleteFarm', parameters: { farmname: 'oldportal' }, reason: 'x' };
    const { digest, asked_at } =
      (await call('eve', 'POST', '/changes?dry_run=true', { ...remove, break_glass: true, run: 'now' })).json ?? {};

    const waits = await call('root', 'POST', '/changes', { ...remove, run: 'now' });
    const denied = await call('root', 'POST', '/changes', { ...remove, run: 'now', break_glass: true });
    const glass = await call('eve', 'POST', '/changes', { ...remove, run: 'now', break_glass: true, digest, asked_at });
    const odd = await ask('eve', { ...remove, recipe: undefined, break_glass: true });

    expect(waits).toMatchObject({ status: 202, json: { state: 'pending' } });
    expect(waits.headers.location).toBe(`/changes/${String(waits.json?.id)}`);
    expect([denied.status, String(denied.json?.detail)]).toEqual([409, expect.stringContaining('has no break_glass')]);
    expect(overOf(glass.text)).toMatchObject({ state: 'done', break_glass: true });
    expect(odd.json?.code).toBe('malformed_body');
    expect(sent()).toEqual(['DELETE /farms/oldportal 200']);
    expect((await audit()).find(({ event }) => event === 'intent')).toMatchObject({ break_glass: true });
  });

  it('counts and logs each call that broke glass or was forced, once, like a call of its own', async () => {
    const { call, ask, sent, metrics, logged } = await givenApprovals();
    const remove = { appliance: 'lb-1', operation: 'deleteFarm', parameters: { farmname: 'oldportal' }, reason: 'x' };
    const { digest, asked_at } =
      (await call('eve', 'POST', '/changes?dry_run=true', { ...remove, break_glass: true, run: 'now' })).json ?? {};
    const start = { operation: 'actOnFarm', parameters: { farmname: 'shop' }, body: { action: 'start' } };
    const counts = async () =>
      (await metrics()).match(/^zlb_admin_(?:guards_overridden|changes)_total\{.*(?:force|glass).*/gm);

    const { text } = await call('eve', 'POST', '/changes', {
      ...remove,
      run: 'now',
      break_glass: true,
      digest,
      asked_at,
    });
    await ask('root', { ...start, recipe: undefined, force: true, run: 'now' });
    const ofChanges = await counts();
    const glassHeaders = { 'x-reason': 'x', 'x-confirm': 'legacy', 'x-break-glass': 'true' };
    await call('eve', 'DELETE', '/appliances/lb-1/farms/legacy', undefined, glassHeaders);
    const forceHeaders = { 'x-reason': 'x', 'x-force': 'true' };
    await call('root', 'PUT', '/appliances/lb-1/farms/shop/actions', start.body, forceHeaders);

    const [glass, forced] = [
      'zlb_admin_changes_total{outcome="break_glass"}',
      'zlb_admin_guards_overridden_total{appliance="lb-1",guard="hard_restart",by="force"}',
    ];
    expect(sent()).toHaveLength(4);
    expect(ofChanges).toEqual(expect.arrayContaining([`${glass} 1`, `${forced} 1`]));
    expect(await counts()).toEqual(expect.arrayContaining([`${glass} 2`, `${forced} 2`]));
    const lines = logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ part, ...line }) => part === 'admin' && (line.forced ?? line.break_glass) !== undefined);
    expect(lines).toMatchObject([
      { level: 40, request: overOf(text).id, principal: 'eve', operation: 'deleteFarm', break_glass: true },
      { level: 40, principal: 'root', operation: 'actOnFarm', forced: ['hard_restart'] },
      { level: 40, principal: 'eve', operation: 'deleteFarm', break_glass: true },
      { level: 40, principal: 'root', operation: 'actOnFarm', forced: ['hard_restart'] },
    ]);
  });

  it('continues after its caller has detached', async () => {
    const { ask, ended, sent } = await givenApprovals();

    const { status, json, headers } = await ask('alice', { run: 'now', detach: true });

    expect([status, headers.location]).toEqual([202, `/changes/${String(json?.id)}`]);
    expect(await ended(String(json?.id))).toMatchObject({ state: 'done' });
    expect(sent()).toEqual([restart]);
  });

  it('is refused while another change works on the same object', async () => {
    const { ask, appliance, sent } = await givenApprovals();
    const { reached, release } = givenHeldAnswer(appliance, 'PUT /farms/{farmname}/actions');
    const first = ask('alice', { run: 'now' });
    await reached();

    const second = await ask('carol', { run: 'now' });
    release();

    expect(second).toMatchObject({ status: 503, json: { code: 'busy' } });
    expect(overOf((await first).text).state).toBe('done');
    expect(sent()).toEqual([restart]);
    expect(overOf((await ask('carol', { run: 'now' })).text).state).toBe('done');
  });

  it('needs a reason, and is refused during a freeze', async () => {
    const { ask, call, appliance } = await givenApprovals();

    const unexplained = await ask('alice', { run: 'now', reason: undefined });
    await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'night' });
    const frozen = await ask('alice', { run: 'now' });
    const waiting = await ask('alice');

    expect([unexplained, frozen, waiting].map(({ json }) => json?.code)).toEqual([
      'reason_required',
      'frozen',
      'frozen',
    ]);
    expect(appliance.requests).toEqual([]);
  });
});

describe('a caller who disconnects', () => {
  it('stops a waiting change before its next step', async () => {
    const given = await givenApprovals();
    const { id, leave } = await startWaiting(given, drain, 2);

    leave();

    const over = (await given.ended(id)) as unknown as ShownChange;
    expect(over).toMatchObject({ state: 'failed', outcome: { code: 'caller_left', sent: true } });
    expect(over.outcome?.lines).toEqual([
      '✓ 1. 10.20.0.11:8080 gets no new connections.',
      expect.stringMatching(/^✗ 2\. Wait until its connections are gone.*: .*The caller left during this step/),
      expect.stringMatching(/^Done: 1\. Set 10\.20\.0\.11:8080/),
      'To go back: zlb-exporter admin lb-1 restore-backend farm=shop service=front backend=0',
    ]);
  });

  it('lets a running call finish, and nothing more is sent', async () => {
    const given = await givenApprovals({ approvals: { requiredFor: [] } });
    const { reached, release } = givenHeldAnswer(given.appliance, 'POST /system/backup');
    const { id, leave } = await startWaiting(given, { ...restartShop, backup_first: true }, 1);
    await reached();

    leave();
    release();

    const over = (await given.ended(id)) as unknown as ShownChange;
    expect(over).toMatchObject({ state: 'failed', outcome: { code: 'caller_left' } });
    expect(over.outcome?.lines[0]).toMatch(/^✓ 1\. The appliance made the backup/);
    expect(given.sent().filter((line) => line.includes('/farms/'))).toEqual([]);
  });
});

it('a change waits for its whole time from its submission, however long its plan was looked at', async () => {
  const { ask, approve, ended, sent, metrics } = await givenApprovals({ approvals: { ttlMs: 1_800_000 } });
  const askedAt = new Date(Date.now() - 3_500_000);
  const submittedMs = Date.now();

  const { json } = await ask('alice', { recipe: 'backup', parameters: {}, asked_at: askedAt.toISOString() });
  const late = await metrics();
  await approve('bob', String(json?.id));

  expect(Date.parse(String(json?.created))).toBeGreaterThanOrEqual(submittedMs);
  expect(late).toContain('zlb_admin_changes_late 0');
  // Its name still has the time of the dry run.
  expect(json?.plan).toMatchObject({
    steps: [
      { call: { body: { name: expect.stringContaining(askedAt.toISOString().slice(11, 19).replaceAll(':', '')) } } },
      {},
    ],
  });
  expect(await ended(String(json?.id))).toMatchObject({ state: 'done' });
  expect(sent()).toHaveLength(1);
});

it('the body of a change that runs now is not stored, because it may contain a password', async () => {
  const given = await givenApprovals();
  const { reached } = givenHeldAnswer(given.appliance, 'PUT /farms/{farmname}/actions');
  const stop = { operation: 'actOnFarm', parameters: { farmname: 'shop' }, body: { action: 'stop' } };

  const { id } = await startWaiting(given, stop, 1);
  await reached();

  const { change, sealed } = JSON.parse(storedChange(given.journalFile, id)) as { change: object; sealed: object };
  expect(change).toMatchObject({ state: 'executing' });
  expect(sealed).toEqual({ person: 'alice', salt: expect.any(String), asked_at: expect.any(String) });
});

describe('a change with a private key', () => {
  const renewed = issue();
  const deliver = { recipe: 'deliver', parameters: {}, files: { cert: renewed.cert, key: renewed.key } };
  const canary = renewed.key.split('\n')[1]!;
  const givenDelivery = (requiredFor: readonly 'destructive'[] = [], options: GivenOptions = {}) =>
    givenApprovals({ approvals: { requiredFor }, ...options }, { 'lb-2': worldWith() });

  it('delivers the key, which is in no response, record, log or stored change', async () => {
    const { ask, appliances, logged, auditText, journalFile } = await givenDelivery();

    const dry = await ask('root', { appliance: 'lb-2', ...deliver });
    const { text } = await ask('root', { appliance: 'lb-2', ...deliver, run: 'now' });

    const over = overOf(text);
    expect(over).toMatchObject({ state: 'done', title: 'deliver' });
    expect(fileOf(appliances.get('lb-2')!.world)).toEqual([isNew]);
    const shown = [dry.text, text, storedChange(journalFile, over.id), await auditText(), ...logged].join('\n');
    expect(shown).not.toContain(canary);
    expect(shown).not.toContain('PRIVATE KEY');
  });

  it('cannot wait, neither on request nor by policy', async () => {
    const { ask, call, appliances } = await givenDelivery(['destructive']);

    const asked = await ask('root', { appliance: 'lb-2', ...deliver });
    const policy = await ask('root', { appliance: 'lb-2', ...deliver, run: 'now' });

    for (const answer of [asked, policy])
      expect(answer).toMatchObject({
        status: 403,
        json: { code: 'cannot_wait', detail: expect.stringContaining('a key') },
      });
    expect((await call('root', 'GET', '/changes')).json?.changes).toEqual([]);
    expect(fileOf(appliances.get('lb-2')!.world)).toEqual(['old.pem']);
  });

  const expiresAtMs = Date.now() + 3_600_000;
  const certbot = makeToken().token;

  it.each([
    ['its caller has disconnected', 'caller_left'],
    ['its token has expired', 'token_expired'],
  ])('removes key and certificate when the delivery stops because %s', async (_, code) => {
    let now = Date.now;
    const tokens = [givenEntry(certbot, { name: 'certbot', expiresAtMs })];
    const given = await givenDelivery([], { admin: { tokens }, now: () => now() });
    const appliance = given.appliances.get('lb-2')!;
    const { reached, release } = givenHeldAnswer(appliance, 'POST /farms/{farmname}/certificates');
    const asked = { appliance: 'lb-2', ...deliver };
    const { id, leave } = await startWaiting({ ...given, tokenOf: () => certbot }, asked, 3);
    await reached();

    if (code === 'caller_left') leave();
    else now = () => expiresAtMs;
    release();

    const over = (await given.ended(id)) as unknown as ShownChange;
    expect(over).toMatchObject({ state: 'failed', outcome: { code } });
    expect(over.outcome?.lines.at(-1)).toMatch(
      /^shop has old\.pem, as before.*\. \S+\.pem is out of the store again\.$/,
    );
    expect(fileOf(appliance.world)).toEqual(['old.pem']);
    expect([...appliance.world.certificates.keys()].filter((file) => file.startsWith('shop.example.com-'))).toEqual([]);
    expect((await given.audit()).filter(({ request }) => request === id).at(-2)).toMatchObject({
      event: 'outcome',
      operation: 'deleteCertificate',
      principal: 'certbot',
    });
  });
});

it('the next start of the exporter reports the outcome of a change that its stop interrupted', async () => {
  const journalFile = `${givenFolder()}/journal.db`;
  const before = await givenApprovals({ admin: { journalFile } });
  const { id } = await startWaiting(before, drain, 2);
  await before.close();

  const { ended } = await givenApprovals({ admin: { journalFile } });

  expect(await ended(id)).toMatchObject({
    state: 'done',
    outcome: { lines: [expect.stringMatching(/^✓ 1 of 1 calls were carried out; the exporter was stopped/)] },
  });
});
