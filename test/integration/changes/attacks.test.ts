import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { until, untilIs } from '../../support/until.ts';
import { givenApprovals } from './given-approvals.ts';

const minute = 60_000;
const restart = 'PUT /farms/shop/actions 200';

it('a request is malformed if it is nested too deep', async () => {
  const { url, tokenOf } = await givenApprovals();

  const answer = await fetch(`${url}/requests`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf('alice')}`, 'content-type': 'application/json' },
    body: `{"appliance":"lb-1","body":${'['.repeat(400_000)}${']'.repeat(400_000)}}`,
  });

  expect(await answer.json()).toMatchObject({
    code: 'malformed_body',
    detail: expect.stringContaining('nested too deep'),
  });
});

describe('a plan', () => {
  it.each([
    ['without end', { kind: 'huge_body', bytes: 9_000_000 }, 'upstream_oversize'],
    ['that break off', { kind: 'cut' }, 'upstream_unreachable'],
  ] as const)('is not made of answers %s', async (_, fault, code) => {
    const { ask, appliance } = await givenApprovals();
    appliance.fail('GET /farms', fault);

    expect(await ask('alice')).toMatchObject({ status: 502, json: { code } });
  });
});

describe('a person who asks', () => {
  it('has twenty open requests at most, however many are asked for at once', async () => {
    const { ask } = await givenApprovals();

    for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 10 }, () => ask('carol')));

    const last = await ask('carol');
    expect(last).toMatchObject({ status: 429, json: { code: 'too_many_requests' } });
    expect(String(last.json?.detail)).toContain('has 20 change requests open');
  });

  it('leaves no token of theirs anywhere, and a reason in one line', async () => {
    const { ask, call, tokenOf, read, logged, auditText, auditFile, metrics } = await givenApprovals();
    const token = tokenOf('alice');
    const asked = await ask('alice', { reason: `with ${token}\u001B[2J\nApproved by: root\u202E` });
    const id = String(asked.json?.id);
    const file = join(`${auditFile}.requests`, `${id}.json`);
    const stored = await readFile(file, 'utf8');
    await call('alice', 'POST', `/requests/${id}/cancel`, { reason: `not ${token}` });

    expect(asked.json?.reason).toMatch(/^with .* \[2J Approved by: root $/);
    const shown = [asked.text, stored, JSON.stringify(await read(id)), await readFile(file, 'utf8')];
    const written = [...logged, await auditText(), await metrics()];
    expect([...shown, ...written].filter((text) => text.includes(token))).toEqual([]);
  });
});

/** Approvals of an appliance whose changes wait behind one that the test holds. */
async function givenSlowChange() {
  const given = await givenApprovals();
  const { appliance, call } = given;
  const { fault, release } = givenHeldAnswer();
  appliance.fail('POST /system/dns', fault, { times: 1 });
  const slow = call('root', 'POST', '/appliances/lb-1/system/dns', { primary: '192.0.2.1' });
  await until(
    () => appliance.inFlight,
    (inFlight) => inFlight > 0,
  );
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

describe('an approved change that waits for others', () => {
  it('is not forced past what its approver did not see', async () => {
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

  it('is not carried out twice, as two requests for the same object', async () => {
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

describe('a request whose end cannot be stored', () => {
  it('ends with what happened, as soon as there is room', async () => {
    const { ask, approve, read, ended, sentAfter, auditFile } = await givenSlowChange();
    const folder = `${auditFile}.requests`;
    const id = String((await ask('alice')).json?.id);
    await approve('bob', id);
    await untilIs(async () => (await read(id)).state, 'executing');
    await rename(folder, `${folder}.away`);
    await writeFile(folder, '');
    const sent = await until(sentAfter, (lines) => lines.length > 0);
    const meanwhile = await read(id);
    await rm(folder);
    await rename(`${folder}.away`, folder);

    expect(sent).toEqual([restart]);
    expect(meanwhile.state).toBe('executing');
    expect(await ended(id)).toMatchObject({
      state: 'done',
      outcome: {
        lines: ['✓ shop was restarted.', expect.stringMatching(/^✓ shop is/), expect.stringMatching(/^✓ Before/)],
      },
    });
  });
});

describe('a backup', () => {
  it('is approved under the name that was asked for, however much later', async () => {
    let now = Date.parse('2026-11-24T01:00:00Z');
    const { ask, approve, ended, sent } = await givenApprovals({ now: () => now });
    const asked = await ask('root', { recipe: 'backup', parameters: {} });
    const id = String(asked.json?.id);
    now += minute;

    expect((await approve('eve', id)).json?.code).toBe('not_approver');
    expect((await approve('bob', id)).status).toBe(202);
    expect(await ended(id)).toMatchObject({ state: 'done' });
    expect(sent()).toHaveLength(1);
  });
});

describe('the time of a request', () => {
  it.each([
    ['ends also', 'its time', 'request_over', 'expired'],
    ['is not over', 'a freeze', 'frozen', 'pending'],
  ] as const)('%s while the appliance keeps the approval waiting: %s comes', async (_, what, code, state) => {
    let now = Date.parse('2026-11-24T01:00:00Z');
    const { ask, approve, read, call, sent, appliance } = await givenApprovals({ now: () => now });
    const id = String((await ask('alice')).json?.id);
    const { fault, release } = givenHeldAnswer();
    appliance.fail('GET /farms', fault, { times: 1 });

    const approving = approve('bob', id);
    await until(
      () => appliance.inFlight,
      (inFlight) => inFlight > 0,
    );
    if (what === 'a freeze') await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'an incident' });
    else now += 31 * minute;
    release();

    expect((await approving).json?.code).toBe(code);
    expect(await read(id)).toMatchObject({ state });
    expect(sent()).toEqual([]);
  });
});

describe('the folder of requests', () => {
  it('with odd files in it is opened, and has those that are requests', async () => {
    const first = await givenApprovals();
    const id = String((await first.ask('alice')).json?.id);
    const folder = `${first.auditFile}.requests`;
    const text = await readFile(join(folder, `${id}.json`), 'utf8');
    await first.close();
    const stored = JSON.parse(text) as { request: object; sealed: object };
    const odd = (letter: string) => `cr-${letter.repeat(10)}`;
    const put = (letter: string, content: object) =>
      writeFile(join(folder, `${odd(letter)}.json`), JSON.stringify(content));
    await Promise.all([
      put('a', {}),
      put('b', { request: { ...stored.request, id: odd('b'), expires: 'never' }, sealed: stored.sealed }),
      put('c', { request: { ...stored.request, id: odd('c') }, sealed: null }),
      put('d', { request: { ...stored.request, id: odd('d'), state: 'trusted' }, sealed: stored.sealed }),
      put('e', {
        request: { ...stored.request, id: odd('e'), plan: { facts: [], steps: [null] } },
        sealed: stored.sealed,
      }),
      put('f', stored),
      writeFile(join(folder, `${odd('g')}.json`), 'a'.repeat(20_000_000)),
      mkdir(join(folder, `${odd('h')}.json`)),
      writeFile(join(folder, `${odd('i')}.json.new`), 'a password'),
    ]);
    execFileSync('mkfifo', [join(folder, `${odd('j')}.json`)]);

    const second = await givenApprovals({ admin: { auditFile: first.auditFile } });

    expect((await second.call('root', 'GET', '/requests')).json).toMatchObject({ requests: [{ id }] });
    expect(second.logged.filter((line) => line.includes('change request cannot be read'))).toHaveLength(9);
    expect(await readdir(folder)).not.toContain(`${odd('i')}.json.new`);
  });

  it('that cannot be written refuses with a reason, and fills no audit', async () => {
    const { ask, call, read, audit, auditFile } = await givenApprovals();
    const id = String((await ask('alice')).json?.id);
    const folder = `${auditFile}.requests`;
    await rename(folder, `${folder}.away`);
    await writeFile(folder, '');
    const before = (await audit()).length;

    const asked = await ask('alice');
    const denied = await call('bob', 'POST', `/requests/${id}/deny`, {});
    await rm(folder);
    await rename(`${folder}.away`, folder);

    expect([asked.json?.code, denied.json?.code]).toEqual(['audit_unavailable', 'audit_unavailable']);
    const events = (await audit()).slice(before).map(({ event }) => event);
    expect(events).not.toContain('change_request');
    expect(await read(id)).toMatchObject({ state: 'pending' });
  });
});
