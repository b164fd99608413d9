import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { until } from '../../support/until.ts';
import { httpsFarm } from '../deliver/given-deliver.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];
const words = ['admin', 'lb-1', 'restart-farm'];

describe('restart-farm', () => {
  it('restarts a farm that needs a restart, and compares it before and after', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run([...words, 'farm=payments', ...agreed]);

    expect(code).toBe(0);
    expect(session()).toMatchSnapshot();
    expect(httpsFarm(appliance.world, 'payments').needsRestart).toBe(false);
    expect(await done()).toEqual(['actOnFarm']);
  });

  it('repairs a farm while another hung proxy blocks the API, and plans it within seconds', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() }, { polls: ['farms'] });
    const [shop, payments] = [httpsFarm(appliance.world, 'shop'), httpsFarm(appliance.world, 'payments')];
    await until(
      () => appliance.requests,
      (requests) => requests.some(({ route, status }) => route === 'GET /farms' && status === 200),
    );
    shop.runState = 'hung';
    payments.runState = 'hung';

    const startedAt = performance.now();
    const planned = await run([...words, 'farm=shop', '--dry-run']);
    const seconds = (performance.now() - startedAt) / 1_000;
    const repaired = await run([...words, 'farm=shop', ...agreed]);

    expect(planned.code, planned.err).toBe(0);
    // The list and the farm in full would have kept it for 40 s.
    expect(seconds).toBeLessThan(40);
    expect(repaired.code, repaired.err).toBe(0);
    expect(await done()).toEqual(['actOnFarm']);
    expect(shop.runState).toBe('readable');
    expect(session()).toMatchSnapshot();
  });

  it('waits until as many backends are up as before', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
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

    const { code } = await run([...words, 'farm=shop', ...agreed], {
      whileWaiting: () => {
        backend!.status = 'up';
      },
    });

    expect(code).toBe(0);
    expect(session()).toMatchSnapshot();
  });

  it('is refused when the farm would stay down', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.interfaces.get('eth0:web')!.status = 'down';

    const shown = await run([...words, 'farm=shop', '--reason=x'], { answers: ['y'] });
    const dry = await run([...words, 'farm=shop', '--dry-run']);
    const agreedTo = await run([...words, 'farm=shop', ...agreed]);

    expect([shown.code, dry.code, agreedTo.code]).toEqual([1, 1, 1]);
    for (const { out } of [shown, dry]) expect(out).toContain('✗ restart_may_leave_down: ');
    expect(agreedTo.err).toContain('code guarded');
    expect(await done()).toEqual([]);
    expect(httpsFarm(appliance.world, 'shop').running).toBe(true);
    expect(session()).toMatchSnapshot();
  });

  it('says that the farm is down and how to start it after a forced restart failed', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.interfaces.get('eth0:web')!.status = 'down';

    const { code } = await run([...words, 'farm=shop', ...agreed, '--force']);

    expect(code).toBe(1);
    expect(httpsFarm(appliance.world, 'shop').running).toBe(false);
    expect(session()).toMatchSnapshot();
  });

  it('says that the farm keeps running when its configuration is refused', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    httpsFarm(appliance.world, 'shop').configError = 'There is no such cipher.';

    const { code } = await run([...words, 'farm=shop', ...agreed]);

    expect(code).toBe(1);
    expect(httpsFarm(appliance.world, 'shop').running).toBe(true);
    expect(session()).toMatchSnapshot();
  });

  it('says how to start a stopped farm that does not come up', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const shop = httpsFarm(appliance.world, 'shop');
    Object.defineProperty(shop, 'running', { get: () => false, set() {} });

    const { code } = await run([...words, 'farm=shop', ...agreed, '--wait=10s']);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });
});

describe('backup', () => {
  it('creates a backup named after the current time, and verifies that it is listed', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run(['admin', 'lb-1', 'backup', ...agreed]);

    expect(code).toBe(0);
    expect([...appliance.world.backups.keys()]).toContainEqual(expect.stringMatching(/^pre-change-\d{8}-\d{6}$/));
    expect(await done()).toEqual(['createBackup']);
    expect(session()).toMatchSnapshot();
  });

  it.each(['before', 'a b'])('refuses the name %s', async (name) => {
    const { run, changes, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run(['admin', 'lb-1', 'backup', `name=${name}`, ...agreed]);

    expect(code).toBe(1);
    expect(changes()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('fails when the appliance does not list the new backup', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    appliance.world.backups.set = () => appliance.world.backups;

    const { code } = await run(['admin', 'lb-1', 'backup', 'name=weekly', ...agreed]);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });
});
