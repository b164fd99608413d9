import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { until } from '../../support/until.ts';
import { httpsFarm } from '../deliver/given-deliver.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];
const words = ['admin', 'lb-1', 'restart-farm'];

describe('restart-farm', () => {
  it('restarts a farm that waits for it, and compares before and after', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out } = await run([...words, 'farm=payments', ...agreed]);

    expect(code).toBe(0);
    expect(out).toContain('Farm payments (http) at 192.0.2.40:8083 is waiting for a restart, 1 of 1 backends up.');
    expect(out).toContain('A restart drops its 3 connections.');
    expect(out).toMatch(
      /✓ 1\. payments was restarted\.\n✓ 2\. payments is up\.\n✓ 3\. Before: waiting for a restart, 1 of 1 backends up\. After: up, 1 of 1 backends up\.$/,
    );
    expect(httpsFarm(appliance.world, 'payments').needsRestart).toBe(false);
    expect(await done()).toEqual(['actOnFarm']);
  });

  it('repairs a farm whose proxy hangs while another one does, and is planned within seconds', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() }, { polls: ['farms'] });
    const [shop, payments] = [httpsFarm(appliance.world, 'shop'), httpsFarm(appliance.world, 'payments')];
    await until(
      () => appliance.requests,
      (requests) => requests.some(({ route, status }) => route === 'GET /stats/farms' && status === 200),
    );
    shop.runState = 'hung';
    payments.runState = 'hung';

    const startedAt = performance.now();
    const planned = await run([...words, 'farm=shop', '--dry-run']);
    const seconds = (performance.now() - startedAt) / 1_000;
    const repaired = await run([...words, 'farm=shop', ...agreed]);

    expect(planned.code, planned.err).toBe(0);
    expect(planned.out).toContain(
      'Farm shop (https) at 192.0.2.40:443 is silent: its proxy does not answer the appliance',
    );
    // The list and the farm in full would have kept it for 40 s.
    expect(seconds).toBeLessThan(40);
    expect(repaired.code, repaired.err).toBe(0);
    expect(await done()).toEqual(['actOnFarm']);
    expect(shop.runState).toBe('readable');
  });

  it('waits until as many backends are up as before', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const shop = httpsFarm(appliance.world, 'shop');
    const [backend] = shop.services[0]!.backends;
    // The health check has yet to find one of them again.
    let running = true;
    Object.defineProperty(shop, 'running', {
      get: () => running,
      set: (value: boolean) => {
        running = value;
        backend!.status = 'down';
      },
    });

    const { code, out } = await run([...words, 'farm=shop', ...agreed], {
      whileWaiting: () => {
        backend!.status = 'up';
      },
    });

    expect(code).toBe(0);
    expect(out).toContain('  … it is problem, 3 of 5 backends up\n✓ 2. shop is problem.');
  });

  it('is not begun when the farm would stay down', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.interfaces.get('eth0:web')!.status = 'down';

    const shown = await run([...words, 'farm=shop', '--reason=x'], { answers: ['y'] });
    const dry = await run([...words, 'farm=shop', '--dry-run']);
    const { code, err } = await run([...words, 'farm=shop', ...agreed]);

    expect(shown).toMatchObject({ code: 1, err: expect.stringMatching(/^Nothing was done: /) });
    expect(dry).toMatchObject({ code: 1, out: expect.stringContaining('✗ restart_may_leave_down: ') });
    expect(shown.out).toMatch(/✗ restart_may_leave_down: /);
    expect(code).toBe(1);
    expect(err).toContain('could not start again: the interface eth0:web of its address 192.0.2.40 is down');
    expect(err).toMatch(/Here: --force --reason=TEXT\.[^]*code guarded/);
    expect(await done()).toEqual([]);
    expect(httpsFarm(appliance.world, 'shop').running).toBe(true);
  });

  it('says that the farm is down, and how to start it, when a forced restart leaves it so', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.interfaces.get('eth0:web')!.status = 'down';

    const { code, err } = await run([...words, 'farm=shop', ...agreed, '--force']);

    expect(code).toBe(1);
    expect(err).toContain('The interface eth0:web is down. The farm is down now.');
    expect(err).toContain('then start it: zlb-exporter admin lb-1 actOnFarm farmname=shop action=start');
  });

  it('says that the farm goes on when its configuration is refused', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    httpsFarm(appliance.world, 'shop').configError = 'There is no such cipher.';

    const { code, err } = await run([...words, 'farm=shop', ...agreed]);

    expect(code).toBe(1);
    expect(err).toContain('There is no such cipher. The farm is problem now.');
    expect(err).toContain('Nothing was changed before that.');
  });

  it('says how to start a stopped farm that does not come up', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const shop = httpsFarm(appliance.world, 'shop');
    Object.defineProperty(shop, 'running', { get: () => false, set() {} });

    const { code, err } = await run([...words, 'farm=shop', ...agreed, '--wait=10s']);

    expect(code).toBe(1);
    expect(err).toContain('it is down, and its backends are unknown until it is up.');
    expect(err).toContain('If it is down: zlb-exporter admin lb-1 actOnFarm farmname=shop action=start.');
  });
});

describe('backup', () => {
  it('is made under a name that says when, and is seen', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out } = await run(['admin', 'lb-1', 'backup', ...agreed]);

    expect(code).toBe(0);
    expect(out).toMatch(
      /✓ 1\. The appliance made the backup pre-change-\d{8}-\d{6}\.\n✓ 2\. \S+ is one of 2 backups\.$/,
    );
    expect([...appliance.world.backups.keys()]).toContainEqual(expect.stringMatching(/^pre-change-\d{8}-\d{6}$/));
    expect(await done()).toEqual(['createBackup']);
  });

  it.each([
    ['before', /The appliance would take it for before-upgrade, which is there\. Nothing was changed\./],
    ['a b', /Only letters, digits, _ and - can stand in it\. Nothing was changed\./],
  ])('is not made under the name %s', async (name, message) => {
    const { run, changes } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, err } = await run(['admin', 'lb-1', 'backup', `name=${name}`, ...agreed]);

    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(changes()).toEqual([]);
  });

  it('that the appliance does not list is an error', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.backups.set = () => appliance.world.backups;

    const { code, err } = await run(['admin', 'lb-1', 'backup', 'name=weekly', ...agreed]);

    expect(code).toBe(1);
    expect(err).toContain('The backup weekly is not listed. The appliance lists before-upgrade.');
  });
});
