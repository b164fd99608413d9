import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenFolder } from '../../support/folder.ts';
import { storedChange } from '../../support/journal-file.ts';
import { givenApprovals } from './given-approvals.ts';

const restart = 'PUT /farms/shop/actions 200';

describe('a change', () => {
  it('is executed once another person has approved its plan', async () => {
    const { ask, approve, ended, sent, audit, metrics } = await givenApprovals();

    const asked = await ask('alice');
    const id = String(asked.json?.id);
    const before = sent();
    const approved = await approve('bob', id);
    const over = await ended(id);

    expect([asked.status, asked.headers.location, approved.status]).toEqual([202, `/changes/${id}`, 202]);
    expect(asked.json).toMatchObject({
      state: 'pending',
      title: 'restart-farm farm=shop',
      requested_by: 'alice',
      plan: { steps: [{ call: { operation: 'actOnFarm', method: 'PUT', body: { action: 'restart' } } }, {}, {}] },
    });
    expect(before).toEqual([]);
    expect(sent()).toEqual([restart]);
    expect(over).toMatchObject({ state: 'done', decision: { by: 'bob', what: 'approved', reason: 'looked at' } });
    const ofChange = (await audit()).filter(({ request }) => request === id);
    expect(ofChange.map(({ event, state, principal }) => [event, state, principal])).toEqual([
      ['change', 'pending', 'alice'],
      ['change', 'approved', 'bob'],
      ['change', 'executing', '-'],
      ['intent', undefined, 'bob'],
      ['outcome', undefined, 'bob'],
      ['change', 'done', '-'],
    ]);
    expect(ofChange.find(({ event }) => event === 'intent')).toMatchObject({ requested_by: 'alice' });
    const page = await metrics();
    expect(page).toContain('zlb_admin_changes_total{outcome="done"} 1\n');
    expect(page).toContain(
      'zlb_admin_calls_total{appliance="lb-1",endpoint="/farms/{farmname}/actions",method="PUT",code="200"} 1\n',
    );
  });

  it('replaces a call whose risk needs approval', async () => {
    const { call, approve, sent } = await givenApprovals();

    const answer = await call('root', 'DELETE', '/appliances/lb-1/farms/oldportal', undefined, {
      'x-confirm': 'oldportal',
    });
    const unconfirmed = await call('root', 'DELETE', '/appliances/lb-1/farms/oldportal');
    const waiting = sent();
    const own = await approve('root', String(answer.json?.id));
    const other = await approve('bob', String(answer.json?.id));

    expect(answer).toMatchObject({ status: 202, json: { state: 'pending', operation: 'deleteFarm' } });
    expect(unconfirmed.json?.code).toBe('confirmation_required');
    expect(waiting).toEqual([]);
    expect(own.json?.code).toBe('own_change');
    // An operator may not delete, so the change is not there for one.
    expect(other.json?.code).toBe('unknown_change');
    expect(sent()).toEqual([]);
  });

  it('is executed once when fifty approvals arrive at once', async () => {
    const { ask, approve, read, ended, sent } = await givenApprovals();
    const id = String((await ask('alice')).json?.id);
    const digest = String((await read(id)).digest);

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => approve(at % 2 ? 'bob' : 'root', id, digest)),
    );
    await ended(id);

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    // They came during the approval, or after it.
    expect(answers.filter(({ json }) => json?.code === 'busy' || json?.code === 'change_over')).toHaveLength(49);
    expect(sent()).toEqual([restart]);
  });
});

describe('a malformed request for changes', () => {
  it.each([
    ['limit=1', 'another key than state'],
    ['state=late', 'a state that no change has'],
  ])('is refused with an explanation of its query %s: %s', async (query, because) => {
    const { call } = await givenApprovals();

    const { status, json } = await call('alice', 'GET', `/changes?${query}`);

    expect({ status, json }).toMatchObject({
      status: 400,
      json: { code: 'malformed_request', detail: expect.stringContaining(because) },
    });
  });

  it('gets a refusal that names what the path accepts, and no appliance calls, when its body is not an object', async () => {
    const { call } = await givenApprovals();

    const { status, json } = await call('alice', 'POST', '/changes', []);

    expect({ status, json }).toMatchObject({
      status: 400,
      json: { code: 'malformed_body', detail: 'The body is not a JSON object; nothing was sent.' },
    });
  });
});

describe('an approval', () => {
  it('is refused, and audited, when it comes from another token of the requester', async () => {
    const { ask, approve, sent, audit } = await givenApprovals();
    const asked = await ask('alice');

    const answer = await approve('alice-phone', String(asked.json?.id));

    expect(asked.json?.may).toEqual(['cancel']);
    expect(answer.json?.code).toBe('own_change');
    expect(sent()).toEqual([]);
    expect((await audit()).at(-1)).toMatchObject({
      event: 'denied',
      principal: 'alice-phone',
      code: 'own_change',
      path: `/changes/${String(asked.json?.id)}/approve`,
      appliance: 'lb-1',
      reason: 'looked at',
    });
  });

  it('is refused when its digest is another', async () => {
    const { ask, approve, sent } = await givenApprovals();
    const id = String((await ask('alice')).json?.id);

    const other = await approve('bob', id, 'a'.repeat(64));

    expect(other).toMatchObject({ status: 412, json: { code: 'digest_mismatch' } });
    expect(sent()).toEqual([]);
  });

  it('works after a restart of the exporter, once the new plan was read', async () => {
    const journalFile = join(givenFolder(), 'journal.db');
    const before = await givenApprovals({ admin: { journalFile } });
    const id = String((await before.ask('alice')).json?.id);
    await before.close();
    const { approve, ended, sent } = await givenApprovals({ admin: { journalFile } });

    // The appliance has another port now.
    const changed = await approve('bob', id);
    const approved = await approve('bob', id);

    expect([changed.json?.code, approved.status]).toEqual(['plan_changed', 202]);
    expect(await ended(id)).toMatchObject({ state: 'done', requested_by: 'alice' });
    expect(sent()).toEqual(['PUT /farms/shop/actions 200']);
  });

  it('also counts for the read with a side effect that the plan has for a backend of an L4 farm', async () => {
    const { ask, approve, ended, audit } = await givenApprovals({ approvals: { requiredFor: ['reversible'] } });
    const asked = await ask('alice', {
      recipe: 'drain-backend',
      parameters: { farm: 'db', backend: '0' },
      wait_seconds: 1,
    });
    const id = String(asked.json?.id);

    await approve('bob', id);
    const over = await ended(id);

    const reads = (await audit()).filter(({ request, operation }) => request === id && operation === 'readFarmStats');
    expect(reads).toMatchObject([
      { event: 'intent', principal: 'bob', requested_by: 'alice' },
      { event: 'outcome', status: 200 },
    ]);
    expect(over.outcome).toMatchObject({
      code: null,
      lines: expect.arrayContaining([expect.stringMatching(/It has \d+ connections/)]),
    });
  });

  it('is refused when the guards now refuse the plan', async () => {
    const { ask, approve, appliance } = await givenApprovals();
    const asked = await ask('alice', {
      recipe: 'drain-backend',
      parameters: { farm: 'shop', backend: '10.20.0.11:8080' },
    });
    const farm = appliance.world.farms.get('shop');
    for (const service of farm && 'services' in farm ? farm.services : [])
      for (const backend of service.backends) if (backend.ip !== '10.20.0.11') backend.status = 'down';

    const answer = await approve('bob', String(asked.json?.id));

    expect(asked.status).toBe(202);
    expect(answer.json?.code).toBe('guarded');
  });
});

it('the journal stores the body of a change only while it waits, readable by its user alone', async () => {
  const { ask, approve, ended, journalFile } = await givenApprovals();
  const asked = await ask('eve', {
    recipe: undefined,
    operation: 'setSnmp',
    parameters: {},
    body: { port: '1161' },
  });
  const id = String(asked.json?.id);
  const waiting = JSON.parse(storedChange(journalFile, id));
  const mode = statSync(journalFile).mode & 0o777;
  await approve('root', id);
  await ended(id);

  expect(asked.status, asked.text).toBe(202);
  expect(mode).toBe(0o600);
  expect(Buffer.from(waiting.sealed.content.base64, 'base64').toString()).toBe('{"port":"1161"}');
  expect(JSON.parse(storedChange(journalFile, id)).sealed).toBeNull();
  for (const path of [journalFile, `${journalFile}-wal`])
    expect(readFileSync(path, 'latin1')).not.toContain(waiting.sealed.content.base64);
});
