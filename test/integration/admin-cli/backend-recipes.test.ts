import { describe, expect, it } from 'vitest';
import type { SimulatedAppliance } from '../../../simulator/server.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import type { BackendState } from '../../../simulator/world-farms.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];

/** A backend of a farm as the simulated appliance has it, to be looked at and changed. */
function backendOf({ world }: SimulatedAppliance, farm: string, address: string, service?: string) {
  const found = world.farms.get(farm)!;
  const backends: { ip: string; established: number; status: BackendState }[] =
    'services' in found ? found.services.find(({ id }) => id === service)!.backends : found.backends;
  return backends.find(({ ip }) => ip === address)!;
}

describe('drain-backend', () => {
  const words = ['admin', 'lb-1', 'drain-backend', 'farm=shop', 'backend=10.20.0.11:8080'];

  it('takes a backend out of service and waits until its connections are gone', async () => {
    const { run, appliance, done, audit } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'shop', '10.20.0.11', 'front');
    const waited: number[] = [];

    const { code, out, err } = await run([...words, ...agreed], {
      whileWaiting: (ms) => {
        waited.push(ms);
        backend.established = Math.max(0, backend.established - 50);
      },
    });

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatchInlineSnapshot(`
      "drain-backend on lb-1: take a backend out of service and wait until its connections are gone

      Farm shop (https) at 192.0.2.40:443 is problem.
      Backend 10.20.0.11:8080 is up, 120 connections; 2 beside it are up.

      Plan
        1. Set 10.20.0.11:8080 (backend 0 of shop, service front) to maintenance, mode drain
        2. Wait until its connections are gone, 5m at most

      ✓ 1. 10.20.0.11:8080 gets no new connections.
        … still 120 connections
        … still 70 connections
        … still 20 connections
      ✓ 2. No connections are left after 15s."
    `);
    expect(backend.status).toBe('maintenance');
    expect(waited).toEqual([5_000, 5_000, 5_000]);
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
    expect(await audit()).toContainEqual(expect.objectContaining({ event: 'intent', reason: 'TICKET-42' }));
  });

  it('does the same for an L4xNAT farm, whose backends belong to no service', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'db', '10.20.0.41');

    const drain = ['admin', 'lb-1', 'drain-backend', 'farm=db', 'backend=0', '--wait=1s', ...agreed];
    const { code } = await run(drain, {
      whileWaiting: () => {
        backend.established = 0;
      },
    });

    expect({ code, status: backend.status }).toEqual({ code: 0, status: 'maintenance' });
    expect(await done(), 'it asks once for the connections').toEqual(['setFarmBackendMaintenance', 'readFarmStats']);
  });

  it('ends after --wait and says how to undo it; the same command continues to wait', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'shop', '10.20.0.11', 'front');

    const first = await run([...words, ...agreed, '--wait=20s']);
    backend.established = 0;
    const second = await run([...words, ...agreed]);

    expect(first.code).toBe(1);
    expect(first.err).toContain('✗ 2. Wait until its connections are gone, 20s at most');
    expect(first.err).toMatch(
      /Done: 1\. Set 10\.20\.0\.11:8080 .*\nTo go back: zlb-exporter admin lb-1 restore-backend farm=shop service=front backend=0\n/,
    );
    expect(first.err).toContain('still 120 connections.');
    expect(first.err).toContain(
      'zlb-exporter admin lb-1 setServiceBackendMaintenance farmname=shop service=front backend=0 action=maintenance mode=cut',
    );
    expect(second.code).toBe(0);
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
  });
});

it.each([
  ['drain-backend farm=nope backend=0', /lb-1 has no farm nope\. Its farms are .*intranet, legacy/],
  ['drain-backend farm=shop backend=9', /shop has no such backend\..*\n.*It has 10\.20\.0\.11:8080 \(id 0 of front\)/],
  [
    'drain-backend farm=shop backend=0',
    /0 means 2 backends of shop\..*\n {2}Say which: service=front backend=0, or service=api/,
  ],
  ['drain-backend farm=oldportal backend=0', /oldportal is down\. /],
  ['drain-backend farm=geo backend=1', /geo is a farm of the profile gslb\. /],
  ['restore-backend farm=shop backend=10.20.0.14:8081', /is down, not in maintenance/],
])('drain-backend and restore-backend say why %s cannot be done', async (call, message) => {
  const { run, changes } = await givenAdminCli({ 'lb-1': busyWorld() });

  const { code, err } = await run(['admin', 'lb-1', ...call.split(' '), ...agreed]);

  expect(code).toBe(1);
  expect(err).toMatch(message);
  expect(changes()).toEqual([]);
});

describe('restore-backend', () => {
  const words = ['admin', 'lb-1', 'restore-backend', 'farm=intranet', 'backend=10.20.0.22:80'];

  it('brings a backend back and sees that it is up', async () => {
    const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out } = await run([...words, ...agreed]);

    expect(code).toBe(0);
    expect(out).toMatch(/✓ 1\. 10\.20\.0\.22:80 may get connections again\.\n✓ 2\. 10\.20\.0\.22:80 is up\.$/);
    expect(backendOf(appliance, 'intranet', '10.20.0.22', 'main').status).toBe('up');
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
  });

  it('says so when the backend does not come up', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'intranet', '10.20.0.22', 'main');
    // Acts like a health check.
    Object.defineProperty(backend, 'status', {
      get: () => (backend.established < 0 ? 'down' : 'maintenance'),
      set: () => {
        backend.established = -1;
      },
    });

    const { code, err } = await run([...words, ...agreed, '--wait=10s']);

    expect(code).toBe(1);
    expect(err).toContain('drain-backend farm=intranet service=main backend=1');
    expect(err).toContain('It did not come true in time. it is down.');
  });
});
