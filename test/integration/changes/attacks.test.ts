import { describe, expect, it } from 'vitest';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { storedChange, takeAway, tamper } from '../../support/journal-file.ts';
import { until, untilIs } from '../../support/until.ts';
import { givenApprovals } from './given-approvals.ts';

const minute = 60_000;
const restart = 'PUT /farms/shop/actions 200';

it('a change that is nested too deep is malformed', async () => {
  const { url, tokenOf } = await givenApprovals();

  const answer = await fetch(`${url}/changes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf('alice')}`, 'content-type': 'application/json' },
    body: `{"appliance":"lb-1","body":${'['.repeat(400_000)}${']'.repeat(400_000)}}`,
  });

  expect(await answer.json()).toMatchObject({
    code: 'malformed_body',
    detail: expect.stringContaining('nested too deep'),
  });
});

it.each([
  ['without end', { kind: 'huge_body', bytes: 9_000_000 }, 'upstream_oversize'],
  ['that break off', { kind: 'cut' }, 'upstream_unreachable'],
] as const)('a plan is refused when it needs responses %s', async (_, fault, code) => {
  const { ask, appliance } = await givenApprovals();
  appliance.fail('GET /farms/modules/summary', fault);

  expect(await ask('alice')).toMatchObject({ status: 502, json: { code } });
});

describe('a requester', () => {
  it('has at most twenty open changes, however many requests run at once', async () => {
    const { ask } = await givenApprovals();

    for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 10 }, () => ask('carol')));

    const last = await ask('carol');
    expect(last).toMatchObject({ status: 429, json: { code: 'too_many_changes' } });
    expect(String(last.json?.detail)).toContain('has 20 changes open');
  });

  it('leaves no token in any record, and a reason in a single line', async () => {
    const { ask, call, tokenOf, read, logged, auditText, journalFile, metrics } = await givenApprovals();
    const token = tokenOf('alice');
    const asked = await ask('alice', { reason: `with ${token}\u001B[2J\nApproved by: root\u202E` });
    const id = String(asked.json?.id);
    const stored = storedChange(journalFile, id);
    await call('alice', 'POST', `/changes/${id}/cancel`, { reason: `not ${token}` });

    expect(asked.json?.reason).toMatch(/^with .* \[2J Approved by: root $/);
    const shown = [asked.text, stored, JSON.stringify(await read(id)), storedChange(journalFile, id)];
    const written = [...logged, await auditText(), await metrics()];
    expect([...shown, ...written].filter((text) => text.includes(token))).toEqual([]);
  });
});

/** Approvals of an appliance whose changes wait behind one that the test holds. */
async function givenSlowChange() {
  const given = await givenApprovals();
  const { appliance, call } = given;
  const { reached, release } = givenHeldAnswer(appliance, 'POST /system/dns');
  const slow = call('root', 'POST', '/appliances/lb-1/system/dns', { primary: '192.0.2.1' });
  await reached();
  return {
    ...given,
    release,
    /** The changes after the slow one, which is answered now. */
    async sentAfter() {
      release();
      await slow;
      return given.sent().filter((line) => !line.includes('/system/dns'));
    },
  };
}

describe('an approved change behind other changes', () => {
  it('is not forced past findings that its approver did not see', async () => {
    const { ask, approve, ended, sentAfter, appliance, release } = await givenSlowChange();
    const asked = await ask('root', {
      recipe: 'drain-backend',
      parameters: { farm: 'shop', backend: '10.20.0.11:8080' },
      force: true,
    });
    const id = String(asked.json?.id);
    expect((await approve('bob', id)).status).toBe(202);
    const farm = appliance.world.farms.get('shop');
    for (const service of farm && 'services' in farm ? farm.services : [])
      for (const backend of service.backends) if (backend.ip !== '10.20.0.11') backend.status = 'down';
    release();

    expect(await ended(id)).toMatchObject({ state: 'failed', outcome: { code: 'guarded' } });
    expect(await sentAfter()).toEqual([]);
  });

  it('is not executed twice when two changes concern the same object', async () => {
    const { ask, approve, ended, read, sentAfter, release } = await givenSlowChange();
    const [first, second] = [String((await ask('alice')).json?.id), String((await ask('carol')).json?.id)];

    const answers = await Promise.all([approve('bob', first), approve('root', second)]);
    const over = answers[0].status === 202 ? first : second;
    release();
    await ended(over);

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 503]);
    expect((await read(over === first ? second : first)).state).toBe('pending');
    expect(await sentAfter()).toEqual([restart]);
  });
});

it('a change whose outcome cannot be stored reports it as soon as there is room', async () => {
  const { ask, approve, read, ended, sent, appliance, journalFile } = await givenApprovals();
  const { reached, release } = givenHeldAnswer(appliance, 'PUT /farms/{farmname}/actions');
  const id = String((await ask('alice')).json?.id);
  await approve('bob', id);
  // The intent is there; what comes after the answer cannot be written.
  await reached();
  const bringBack = takeAway(journalFile);
  release();
  await until(sent, (lines) => lines.includes(restart));
  const meanwhile = await read(id);
  bringBack();

  expect(meanwhile.state).toBe('executing');
  expect(sent()).toEqual([restart]);
  expect(await ended(id)).toMatchObject({
    state: 'done',
    outcome: {
      lines: [
        '✓ 1. shop was restarted.',
        expect.stringMatching(/^✓ 2\. shop is/),
        expect.stringMatching(/^✓ 3\. Before/),
      ],
    },
  });
});

it.each([
  ['a backup', { recipe: 'backup', parameters: {} }, 1],
  ['a change that makes a backup first', { backup_first: true }, 2],
])('%s is approved under the requested name, however much later', async (_, asked, calls) => {
  let now = Date.parse('2026-11-24T01:00:00Z');
  const { ask, approve, ended, sent } = await givenApprovals({ now: () => now });
  const { json } = await ask('root', asked);
  const id = String(json?.id);
  now += minute;

  expect((await approve('eve', id)).json?.code).toBe('not_approver');
  expect((await approve('bob', id)).status).toBe(202);
  expect(await ended(id)).toMatchObject({ state: 'done' });
  expect(sent()).toHaveLength(calls);
});

it.each([
  ['expires', 'its deadline', 'change_over', 'expired'],
  ['does not expire', 'a freeze', 'frozen', 'pending'],
] as const)('a change %s during a slow approval, when %s comes first', async (_, what, code, state) => {
  let now = Date.parse('2026-11-24T01:00:00Z');
  const { ask, approve, read, call, sent, appliance } = await givenApprovals({ now: () => now });
  const id = String((await ask('alice')).json?.id);
  const { reached, release } = givenHeldAnswer(appliance, 'GET /farms');

  const approving = approve('bob', id);
  await reached();
  if (what === 'a freeze') await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'an incident' });
  else now += 31 * minute;
  release();

  expect((await approving).json?.code).toBe(code);
  expect(await read(id)).toMatchObject({ state });
  expect(sent()).toEqual([]);
});

describe('a journal of changes', () => {
  it('is opened although it contains malformed changes, and lists the valid ones', async () => {
    const first = await givenApprovals();
    const id = String((await first.ask('alice')).json?.id);
    await first.close();
    const stored = JSON.parse(storedChange(first.journalFile, id)) as { change: object; sealed: object };
    const odd = (letter: string) => `ch-${letter.repeat(10)}`;
    const contents = {
      a: {},
      b: { change: { ...stored.change, id: odd('b'), expires: 'never' }, sealed: stored.sealed },
      c: { change: { ...stored.change, id: odd('c') }, sealed: null },
      d: { change: { ...stored.change, id: odd('d'), state: 'trusted' }, sealed: stored.sealed },
      e: { change: { ...stored.change, id: odd('e'), plan: { facts: [], steps: [null] } }, sealed: stored.sealed },
      f: stored,
      // Like the others, and with nothing odd.
      h: { change: { ...stored.change, id: odd('h') }, sealed: stored.sealed },
    };
    const rows = Object.entries(contents).map(([letter, content]) => [odd(letter), JSON.stringify(content)]);
    tamper(
      first.journalFile,
      ...[...rows, [odd('g'), 'a'.repeat(2_000_000)]].map(
        ([name, text = '']) => `INSERT INTO changes VALUES ('${name}', '${text.replaceAll("'", "''")}')`,
      ),
    );

    const second = await givenApprovals({ admin: { journalFile: first.journalFile } });

    const { changes } = (await second.call('root', 'GET', '/changes')).json as { changes: readonly { id: string }[] };
    expect(changes.map((each) => each.id).toSorted()).toEqual([id, odd('h')].toSorted());
    expect(second.logged.filter((line) => line.includes('change cannot be read'))).toHaveLength(7);
  });

  it('refuses with a reason when it cannot be written, and changes nothing', async () => {
    const { ask, approve, call, read, audit, journalFile } = await givenApprovals();
    const id = String((await ask('alice')).json?.id);
    const before = (await audit()).length;
    const bringBack = takeAway(journalFile);

    const asked = await ask('alice');
    const denied = await call('bob', 'POST', `/changes/${id}/deny`, {});
    const approved = await approve('bob', id);
    bringBack();

    expect([asked, denied, approved].map(({ json }) => json?.code)).toEqual(Array(3).fill('audit_unavailable'));
    const events = (await audit()).slice(before).map(({ event }) => event);
    expect(events).not.toContain('change');
    expect(await read(id)).toMatchObject({ state: 'pending' });
    expect((await call('bob', 'POST', `/changes/${id}/deny`, {})).json).toMatchObject({ state: 'denied' });
  });

  it('does not stop a freeze while it cannot be written, and stores the freeze as soon as it can', async () => {
    const { call, audit, journalFile } = await givenApprovals();
    const bringBack = takeAway(journalFile);

    const frozen = await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'stop' });
    const change = await call('root', 'PUT', '/appliances/lb-1/farms/shop/actions', { action: 'restart' });
    const unfrozen = await call('root', 'DELETE', '/freeze');
    bringBack();

    expect(frozen).toMatchObject({ status: 200, json: { frozen: true, by: 'root', kept: false } });
    expect(change.json?.code).toBe('frozen');
    expect(unfrozen.json?.code).toBe('audit_unavailable');
    await untilIs(async () => (await call('root', 'GET', '/freeze')).json?.kept, true);
    expect((await audit()).map(({ event }) => event)).toContain('freeze');
  });
});
