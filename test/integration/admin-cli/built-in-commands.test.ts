import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { givenAdminCli } from './given-admin-cli.ts';

describe('the built-in commands', () => {
  it('tell who one is, and what one may reach', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld(), 'lb-2': recordedWorld() });

    const whoami = await run(['admin', 'whoami'], { as: 'operator' });
    const appliances = await run(['admin', 'appliances', '--json']);

    expect(whoami.out).toMatch(/^principal +operator\nrole +operator\n/);
    expect(JSON.parse(appliances.bytes.toString())).toMatchObject({ appliances: [{ name: 'lb-1' }, { name: 'lb-2' }] });
  });

  it('freeze all changes and let them go on', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });
    const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--yes'];

    const unexplained = await run(['admin', 'freeze']);
    const frozen = await run(['admin', 'freeze', '--reason=Störung']);
    const asked = await run(['admin', 'frozen']);
    const refused = await run(stop);
    const thawed = await run(['admin', 'unfreeze']);
    const done = await run(stop);

    expect(unexplained).toMatchObject({ code: 2 });
    expect(frozen.out).toMatch(/^All changes are frozen\.\nby +admin\n/);
    expect(asked.out).toContain('Störung');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Here: zlb-exporter admin unfreeze.') });
    expect(thawed.out).toBe('Changes are not frozen.');
    expect(done.code).toBe(0);
  });

  it('list the audit, newest first, as filtered', async () => {
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
    expect(denied.out.split('\n')).toHaveLength(2);
    expect(none.out).toBe('No records fit.');
    expect(wrong.code).toBe(1);
  });

  it('explain what an operation takes', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    const byKey = await run(['admin', 'parameters', 'lb-1', 'actOnFarm', 'farmname=shop']);
    const byPath = await run(['admin', 'parameters', 'lb-1', 'PUT /farms/shop/actions']);
    const upload = await run(['admin', 'parameters', 'lb-1', 'uploadBackup', 'name=x']);

    expect(byKey.out).toMatch(
      /^PUT \/farms\/\{farmname\}\/actions .*\n\nname +needed +takes.*\naction +yes +stop \| start \| restart$/,
    );
    expect(byPath.out).toBe(byKey.out);
    expect(upload).toMatchObject({ code: 2, err: 'uploadBackup takes a file and no parameters: --body=@PATH' });
  });

  it('find operations without asking anybody', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });

    const found = await run(['admin', 'operations', 'FARM', 'destructive', 'certificate'], { as: '' });
    const json = await run(['admin', 'operations', '--json']);

    expect(found.out).toMatch(
      /^operation .*\nremoveFarmCertificate +DELETE \/farms\/\{farmname\}\/certificates\/\{certificate\} .*\n\n1 of \d+ operations\.$/,
    );
    expect(JSON.parse(json.bytes.toString()).operations.length).toBeGreaterThan(400);
    expect(appliance.requests).toEqual([]);
  });

  it.each([
    [['admin', 'whoami', '--dry-run'], '--dry-run does not go with admin whoami'],
    [['admin', 'freeze', 'lb-1', '--reason=x'], 'admin freeze takes no more words'],
    [['admin', 'lb-1'], 'admin "lb-1" is not complete'],
    [['admin', 'lb-1', 'listFarms', '--wait=5m'], '--wait does not go with a single operation'],
    [['admin', 'lb-1', 'backup', '--json'], '--json does not go with the recipe backup'],
    [['admin', 'lb-1', 'backup', 'nome=x'], 'backup takes name, and no nome'],
    [['admin', 'lb-1', 'restart-farm'], 'restart-farm needs farm=… (or farmname=…)'],
    [['admin', 'lb-1', 'restart-farm', 'farm=a', 'farmname=b'], 'farm and farmname mean the same'],
    [['admin', 'lb-1', 'restart-farm', 'form=a'], 'restart-farm takes farm (or farmname), and no form'],
    [['admin', 'lb-1', 'restart-farm', 'farm=a', 'farm=b'], 'farm is given twice; leave one out'],
    [['admin', 'lb-1', 'backup', '--yes'], 'a recipe needs a reason for the audit'],
    [['admin', 'parameters'], 'the appliance and the operation are missing'],
    [['admin', 'parameters', 'lb-1'], 'the operation is missing: admin parameters lb-1 OPERATION'],
    [['admin', 'parameters', 'createFarm'], 'the appliance is missing: admin parameters APPLIANCE createFarm'],
    [['admin', 'whoam'], 'did you mean admin whoami?'],
    [['admin', 'parametres', 'lb-1', 'createFarm'], 'did you mean admin parameters?'],
    [['admin', 'lb-1', 'restart-fram', 'farm=shop'], 'operation "restart-fram"; did you mean restart-farm?'],
    [['admin', 'lb-1', 'actOnFram'], 'there is no operation "actOnFram"; did you mean actOnFarm?'],
  ])('refuse %j before anything is sent', async (words, message) => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, err } = await run(words);

    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(appliance.requests).toEqual([]);
  });
});

describe('a gateway that does not answer as one', () => {
  it.each([
    ['http://127.0.0.1:1', /gave no answer\n {2}.*ECONNREFUSED.*\n {2}Check --admin\.url/],
    ['metrics', /is not an admin gateway\n {2}It answered 404/],
  ])('at %s is distinguished from a refusal', async (url, message) => {
    const { run, metricsUrl } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, err } = await run(['admin', 'whoami', `--admin.url=${url === 'metrics' ? metricsUrl : url}`]);

    expect(code).toBe(1);
    expect(err).toMatch(message);
  });
});
