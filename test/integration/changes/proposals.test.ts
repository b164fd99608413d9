import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { until } from '../../support/until.ts';
import { givenApprovals } from './given-approvals.ts';

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly title: string;
}

const needsRestart = { alertname: 'ZlbFarmNeedsRestart', appliance: 'lb-1', farm: 'shop' };

/** Approvals, and an Alertmanager that posts alerts. */
async function givenAlertmanager(others: Parameters<typeof givenApprovals>[1] = {}) {
  const given = await givenApprovals({}, others);
  const tell = (alerts: readonly object[], as: Parameters<typeof given.call>[0] = 'alertmanager') =>
    given.call(as, 'POST', '/alerts', { version: '4', receiver: 'zlb', groupKey: '{}', alerts });
  const alert = (labels: object, more: object = {}) => ({
    status: 'firing',
    labels,
    annotations: { summary: 'A farm waits for a restart.' },
    startsAt: '2026-11-24T01:00:00Z',
    ...more,
  });
  const all = async () => (await given.call('root', 'GET', '/changes')).json?.changes as readonly Shown[];
  const shown = (count: number) => until(all, (changes) => changes.length === count);
  return { ...given, tell, alert, all, shown };
}

describe('a firing alert', () => {
  it('becomes a proposal for approval, with few requests to the appliance', async () => {
    const { tell, alert, shown, approve, ended, read, appliance, audit } = await givenAlertmanager();
    const asked = () => appliance.requests.map(({ method, path }) => `${method} ${path}`);
    const guards = ['GET /interfaces', 'GET /farms/shop', 'GET /certificates'];
    const planned = ['GET /farms/shop/status', 'GET /farms', 'GET /stats/farms/shop', ...guards];
    // Before each read that would act on an L4 farm.
    const profiles = 'GET /farms/modules/summary';
    const others = (lines: readonly string[]) => lines.filter((line) => line !== profiles);

    const told = await tell([alert(needsRestart)]);
    const [proposal] = await shown(1);
    const forProposal = asked();
    await approve('bob', proposal!.id);
    await ended(proposal!.id);

    expect(told).toMatchObject({ status: 200, json: { proposed: 1, withdrawn: 0, ignored: 0 } });
    expect(proposal).toMatchObject({ state: 'proposed', title: 'restart-farm farm=shop' });
    expect(others(forProposal)).toEqual(['GET /system/version', ...planned]);
    expect(forProposal.filter((line) => line === profiles)).toHaveLength(3);
    // Once more: the appliance may have changed since it was proposed. A busy machine takes longer
    // than replies may be used, and asks some a third time.
    expect([...new Set(others(asked().slice(forProposal.length)))]).toEqual([...planned, 'PUT /farms/shop/actions']);
    expect(asked().filter((line) => line.startsWith('PUT'))).toHaveLength(1);
    expect(await read(proposal!.id)).toMatchObject({
      state: 'done',
      requested_by: 'alertmanager',
      alerts: [{ name: 'ZlbFarmNeedsRestart', summary: 'A farm waits for a restart.', since: '2026-11-24T01:00:00Z' }],
    });
    expect((await audit()).filter(({ request }) => request === proposal!.id)).toHaveLength(6);
  });

  it('proposes nothing that the person of its Alertmanager may approve', async () => {
    const { tell, alert, shown, approve, sent } = await givenAlertmanager();

    await tell([alert(needsRestart)], 'bobs-alerts');
    const [proposal] = await shown(1);

    expect((await approve('bob', proposal!.id)).json).toMatchObject({ code: 'own_change' });
    expect(sent()).toEqual([]);
    expect((await approve('alice', proposal!.id)).json).toMatchObject({ state: 'approved' });
  });

  it('creates one proposal, however often and from however many senders it arrives', async () => {
    const { tell, alert, shown, all, approve, ended } = await givenAlertmanager();

    await Promise.all(Array.from({ length: 5 }, () => tell([alert(needsRestart), alert(needsRestart)])));
    const [proposal] = await shown(1);
    await tell([alert({ ...needsRestart, alertname: 'ZlbFarmDown', status: 'down' })]);
    await approve('bob', proposal!.id);
    await ended(proposal!.id);
    const again = await tell([alert(needsRestart)]);

    expect(again.json).toMatchObject({ proposed: 1 });
    expect(await all()).toHaveLength(1);
  });

  it('is listed for approvers with the reason until it ends, when its repair cannot be planned', async () => {
    const { tell, alert, call } = await givenAlertmanager();
    const gone = { ...needsRestart, farm: 'gone' };
    const notProposed = async (as: Parameters<typeof call>[0]) =>
      (await call(as, 'GET', '/changes')).json?.not_proposed as readonly object[];

    await tell([alert(gone)]);
    const [listed] = await until(
      () => notProposed('root'),
      ({ length }) => length === 1,
    );
    const forOthers = await notProposed('carol');
    await tell([alert(gone, { status: 'resolved' })]);

    expect(listed).toMatchObject({
      appliance: 'lb-1',
      title: 'restart-farm farm=gone',
      alerts: [{ name: 'ZlbFarmNeedsRestart' }],
      because: expect.stringContaining('gone'),
    });
    expect(forOthers).toEqual([]);
    expect(await notProposed('root')).toEqual([]);
  });

  it.each([
    ['the first', 0],
    ['the second', 1],
  ])('keeps a proposal that two alerts share until the last one ends: %s ends', async (_, ending) => {
    const { tell, alert, shown, read, all } = await givenAlertmanager();
    const both = [needsRestart, { ...needsRestart, alertname: 'ZlbFarmDown', status: 'down' }];
    await tell([alert(both[0]!)]);
    const [proposal] = await shown(1);
    const second = await tell([alert(both[1]!)]);
    // The console looks for a proposal in the list.
    const [named] = await all();

    const first = await tell([alert(both[ending]!, { status: 'resolved' })]);
    const left = await read(proposal!.id);
    const last = await tell([alert(both[1 - ending]!, { status: 'resolved' })]);

    expect(second.json).toEqual({ proposed: 1, withdrawn: 0, ignored: 0 });
    expect(named).toMatchObject({ alerts: [{ name: 'ZlbFarmNeedsRestart' }, { name: 'ZlbFarmDown' }] });
    expect(first.json).toEqual({ proposed: 0, withdrawn: 0, ignored: 1 });
    const name = both[1 - ending]?.alertname;
    expect(left).toMatchObject({ state: 'proposed', alerts: [{ name }] });
    expect(last.json).toEqual({ proposed: 0, withdrawn: 1, ignored: 0 });
    expect(await read(proposal!.id)).toMatchObject({ state: 'withdrawn' });
  });

  it('withdraws its repair when it ends during the approval, and nothing is sent', async () => {
    const { tell, alert, shown, read, sent, approve, appliance } = await givenAlertmanager();
    await tell([alert(needsRestart)]);
    const [proposal] = await shown(1);
    const { reached, release } = givenHeldAnswer(appliance, 'GET /farms');

    const approving = approve('bob', proposal!.id);
    await reached();
    const told = await tell([alert(needsRestart, { status: 'resolved' })]);
    release();
    const approved = await approving;

    expect(told.json).toEqual({ proposed: 0, withdrawn: 1, ignored: 0 });
    expect(approved).toMatchObject({ status: 409, json: { code: 'change_over' } });
    expect(await read(proposal!.id)).toMatchObject({ state: 'withdrawn', decision: { by: '-' } });
    expect(sent()).toEqual([]);
  });

  it('creates no proposal when it ends before its repair is planned', async () => {
    const { tell, alert, shown } = await givenAlertmanager();

    const told = await tell([
      alert(needsRestart),
      alert(needsRestart, { status: 'resolved' }),
      alert({ ...needsRestart, farm: 'db' }),
    ]);

    expect(told.json).toEqual({ proposed: 2, withdrawn: 1, ignored: 0 });
    // An appliance's repairs are planned in their order.
    expect(await shown(1)).toMatchObject([{ state: 'proposed', title: 'restart-farm farm=db' }]);
  });
});

it('a proposal is not delayed by a hung appliance of another alert', async () => {
  const { tell, alert, shown, appliances } = await givenAlertmanager({ 'lb-2': busyWorld() });
  appliances.get('lb-2')?.fail('*', { kind: 'hang' });

  await tell(['shop', 'blog', 'api'].map((farm) => alert({ ...needsRestart, appliance: 'lb-2', farm })));
  await tell([alert(needsRestart)]);

  expect(await shown(1)).toMatchObject([{ state: 'proposed', title: 'restart-farm farm=shop', appliance: 'lb-1' }]);
});

describe('a holder of the Alertmanager token', () => {
  it('causes few requests to an appliance, however many alerts arrive', async () => {
    const { tell, alert, metrics, appliance, logged } = await givenAlertmanager();

    for (let round = 0; round < 40; round += 1)
      await tell([0, 1, 2, 3].map((at) => alert({ ...needsRestart, farm: `f${round}-${at}` })));
    await until(
      () => logged.filter((line) => line.includes('no repair proposed')),
      (lines) => lines.length >= 4,
    );

    expect(appliance.requests.length).toBeLessThanOrEqual(15);
    expect(await metrics()).toMatch(/zlb_admin_changes_total\{outcome="suppressed"\} 1[45]\d\n/);
  });

  it('cannot add more than 100 alerts to a proposal', async () => {
    const { tell, alert, shown, read } = await givenAlertmanager();
    const asking = (count: number, replica: string) =>
      Array.from({ length: count }, (_, index) => alert({ ...needsRestart, replica: `${replica}-${index}` }));

    await tell(asking(70, 'a'));
    const [proposal] = await shown(1);
    await tell(asking(70, 'b'));
    // Alerts that came while it was planned join it afterwards.
    const kept = async () => (await read(proposal!.id)).alerts as readonly unknown[];
    await until(kept, ({ length }) => length >= 100);
    await tell(asking(1, 'c'));

    expect(await kept()).toHaveLength(100);
  });

  it('is refused above a rate limit that other tokens do not share', async () => {
    const { tell, alert, call } = await givenAlertmanager();
    const many = Array.from({ length: 5_000 }, () => alert({ alertname: 'x' }, { annotations: {} }));

    const answers = [];
    for (let round = 0; round < 3; round += 1) answers.push(await tell(many));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.json).toMatchObject({
      code: 'too_many_alerts',
      detail: expect.stringContaining('more than 10000 alerts a minute'),
    });
    expect((await call('root', 'GET', '/changes')).status).toBe(200);
  });

  it('cannot put a token or a second line into a summary, or text into a time', async () => {
    const { tell, alert, shown, read, tokenOf } = await givenAlertmanager();
    const token = tokenOf('alertmanager');

    const odd = await tell([alert(needsRestart, { startsAt: 'approved by root' })]);
    await tell([alert(needsRestart, { annotations: { summary: `${token}\nApproved by: root` } })]);
    const [proposal] = await shown(1);

    expect(odd.json?.code).toBe('malformed_body');
    expect((await read(proposal!.id)).alerts).toMatchObject([{ summary: '[redacted] Approved by: root' }]);
  });
});

describe('the path /alerts', () => {
  it('is the only one open to its role, and closed to others', async () => {
    const { call, tell, alert } = await givenAlertmanager();
    const paths = ['/whoami', '/appliances', '/audit', '/freeze', '/changes', '/appliances/lb-1/farms'];

    const answers = await Promise.all(paths.map((path) => call('alertmanager', 'GET', path)));

    for (const { json } of answers)
      expect(json).toMatchObject({
        code: 'role_too_low',
        remedy: 'Use a token with the role viewer, operator or admin.',
      });
    for (const person of ['root', 'dave'] as const)
      expect((await tell([alert(needsRestart)], person)).json).toMatchObject({
        code: 'role_too_low',
        remedy: 'Use a token with the role alertmanager.',
      });
  });

  it.each(['/%61lerts', '/alerts#', '/alerts#/whoami'])('is closed to others when it is spelled %s', async (path) => {
    const { call, alert } = await givenAlertmanager();
    const body = { version: '4', alerts: [alert(needsRestart)] };

    const [other, own] = await Promise.all([
      call('dave', 'POST', path, body),
      call('alertmanager', 'POST', path, body),
    ]);

    expect(other).toMatchObject({ status: 403, json: { code: 'role_too_low' } });
    expect(own.status).toBe(200);
  });

  it.each([
    ['another version', { version: '3', alerts: [] }],
    ['labels that are not texts', { version: '4', alerts: [{ status: 'firing', startsAt: '', labels: { farm: 1 } }] }],
    ['more than 10,000 alerts', { version: '4', alerts: Array.from({ length: 10_001 }, () => ({})) }],
  ])('refuses %s', async (_, body) => {
    const { call, all } = await givenAlertmanager();

    expect(await call('alertmanager', 'POST', '/alerts', body)).toMatchObject({
      status: 400,
      json: { code: 'malformed_body' },
    });
    expect(await all()).toEqual([]);
  });

  it('refuses a Grafana notification by name, and says what to do', async () => {
    const { call, all, alert } = await givenAlertmanager();
    const body = { version: '1', orgId: 1, title: '[FIRING:1]', state: 'alerting', alerts: [alert(needsRestart)] };

    expect(await call('alertmanager', 'POST', '/alerts', body)).toMatchObject({
      status: 400,
      json: {
        code: 'malformed_body',
        detail: 'The notification has the version 1, as a webhook of Grafana has; nothing was proposed.',
        remedy: expect.stringContaining('contact point of Grafana') as string,
      },
    });
    expect(await all()).toEqual([]);
  });

  it('reports and logs how many alerts a notification omits', async () => {
    const { call, alert, logged } = await givenAlertmanager();
    const told = await call('alertmanager', 'POST', '/alerts', {
      version: '4',
      truncatedAlerts: 7,
      alerts: [alert(needsRestart)],
    });

    expect(told.json).toEqual({ proposed: 1, withdrawn: 0, ignored: 0, truncated: 7 });
    expect(logged.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ level: 40, truncated: 7 }),
    );
  });
});
