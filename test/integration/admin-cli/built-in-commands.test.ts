import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { givenAdminCli } from './given-admin-cli.ts';

describe('the built-in admin commands', () => {
  it('show who the caller is, and which appliances the token covers', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld(), 'lb-2': recordedWorld() });

    const whoami = await run(['admin', 'whoami'], { as: 'operator' });
    const appliances = await run(['admin', 'appliances', '--json']);

    expect(whoami.out).toMatch(/^principal +operator\nrole +operator\n/);
    expect(JSON.parse(appliances.bytes.toString())).toMatchObject({ appliances: [{ name: 'lb-1' }, { name: 'lb-2' }] });
  });

  it('freeze all changes, and unfreeze them', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });
    const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--yes'];

    const frozen = await run(['admin', 'freeze', '--reason=Störung']);
    const asked = await run(['admin', 'frozen']);
    const refused = await run(stop);
    const unfrozen = await run(['admin', 'unfreeze']);
    const done = await run(stop);

    expect(frozen.out).toMatch(/^All changes are frozen\.\nby +admin\n/);
    expect(asked.out).toContain('Störung');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('All changes are frozen; ') });
    expect(unfrozen.out).toBe('Changes are not frozen.');
    expect(done.code).toBe(0);
  });

  it('warn of a freeze that a restart lifts, since the journal cannot be written', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() }, { admin: { journalFile: '/dev/full' } });

    const frozen = await run(['admin', 'freeze', '--reason=now']);
    const asked = await run(['admin', 'frozen']);

    for (const { code, out } of [frozen, asked]) {
      expect(code).toBe(0);
      expect(out).toContain('A restart of the exporter lifts it: its journal cannot be written');
    }
  });

  it('list the audit, newest first, filtered', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });
    await run(['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--reason=TICKET-42', '--yes']);
    await run(['admin', 'lb-1', 'deleteFarm', 'farmname=shop', '--confirm=shop'], { as: 'operator' });

    const all = await run(['admin', 'audit']);
    const denied = await run(['admin', 'audit', '--event=denied', '--principal=operator', '--limit=5']);
    const none = await run(['admin', 'audit', '--principal=nobody']);
    const wrong = await run(['admin', 'audit', '--limit=many']);

    const [header, first, ...rest] = all.out.split('\n');
    expect(header).toMatch(/^time +principal +event +appliance +operation +result +reason$/);
    expect(first).toMatch(/operator +denied +lb-1 +deleteFarm +403 role_too_low$/);
    expect(rest.find((line) => line.includes('intent'))).toMatch(/admin +intent +lb-1 +actOnFarm +TICKET-42$/);
    expect(all.out, 'of a record without a call').not.toContain('- -');
    expect(denied.out.split('\n')).toHaveLength(2);
    expect(none.out).toBe('No records match.');
    expect(wrong.code).toBe(1);
  });

  it('explain the parameters of an operation', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    const byKey = await run(['admin', 'parameters', 'lb-1', 'actOnFarm', 'farmname=shop']);
    const byPath = await run(['admin', 'parameters', 'lb-1', 'PUT /farms/shop/actions']);

    expect(byKey.out).toMatch(/route +PUT \/farms\/\{farmname\}\/actions\n/);
    expect(byKey.out).toMatch(/\nname +.*possible_values.*\naction +.*stop, start, restart/);
    expect(byPath.out).toBe(byKey.out);
  });

  it('find operations without a request to the gateway', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });

    const found = await run(['admin', 'operations', 'FARM', 'destructive', 'certificate'], { as: '' });
    const json = await run(['admin', 'operations', '--json']);

    expect(found.out).toMatch(
      /^operation .*\nremoveFarmCertificate +DELETE \/farms\/\{farmname\}\/certificates\/\{certificate\} .*\n\n1 of \d+ operations\.$/,
    );
    expect(JSON.parse(json.bytes.toString()).operations.length).toBeGreaterThan(400);
    expect(appliance.requests).toEqual([]);
  });
});

it.each([
  ['http://127.0.0.1:1', /did not respond\n {2}.*ECONNREFUSED.*\n {2}Check --admin\.url/],
  ['metrics', /is not an admin gateway\n {2}It answered 404/],
])('the command distinguishes something that is not a gateway (%s) from a refusal', async (url, message) => {
  const { run, metricsUrl } = await givenAdminCli({ 'lb-1': busyWorld() });

  const { code, err } = await run(['admin', 'whoami', `--admin.url=${url === 'metrics' ? metricsUrl : url}`]);

  expect(code).toBe(1);
  expect(err).toMatch(message);
});
