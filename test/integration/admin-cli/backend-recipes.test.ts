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
    const { run, appliance, done, audit, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'shop', '10.20.0.11', 'front');
    const waited: number[] = [];

    const { code, err } = await run([...words, ...agreed], {
      whileWaiting: (ms) => {
        waited.push(ms);
        backend.established = Math.max(0, backend.established - 50);
      },
    });

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(backend.status).toBe('maintenance');
    expect(waited).toEqual([5_000, 5_000, 5_000]);
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
    expect(await audit()).toContainEqual(expect.objectContaining({ event: 'intent', reason: 'TICKET-42' }));
    expect(session()).toMatchSnapshot();
  });

  it('does the same for an L4xNAT farm, whose backends have no service', async () => {
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

  it('exits after --wait and says how to undo it; the same command waits on', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'shop', '10.20.0.11', 'front');

    const first = await run([...words, ...agreed, '--wait=20s']);
    backend.established = 0;
    const second = await run([...words, ...agreed]);

    expect([first.code, second.code]).toEqual([1, 0]);
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
    expect(session()).toMatchSnapshot();
  });
});

it('drain-backend and restore-backend explain why they refuse', async () => {
  const { run, changes, session } = await givenAdminCli({ 'lb-1': busyWorld() });

  for (const words of [
    'drain-backend farm=nope backend=0',
    'drain-backend farm=shop backend=9',
    'drain-backend farm=shop backend=0',
    'drain-backend farm=oldportal backend=0',
    'drain-backend farm=geo backend=1',
    'restore-backend farm=shop backend=10.20.0.14:8081',
  ])
    expect((await run(['admin', 'lb-1', ...words.split(' '), ...agreed])).code, words).toBe(1);

  expect(changes()).toEqual([]);
  expect(session()).toMatchSnapshot();
});

describe('restore-backend', () => {
  const words = ['admin', 'lb-1', 'restore-backend', 'farm=intranet', 'backend=10.20.0.22:80'];

  it('brings a backend back and checks that it is up', async () => {
    const { run, appliance, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run([...words, ...agreed]);

    expect(code).toBe(0);
    expect(backendOf(appliance, 'intranet', '10.20.0.22', 'main').status).toBe('up');
    expect(await done()).toEqual(['setServiceBackendMaintenance']);
    expect(session()).toMatchSnapshot();
  });

  it('reports a backend that does not come up', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const backend = backendOf(appliance, 'intranet', '10.20.0.22', 'main');
    // Acts like a health check.
    Object.defineProperty(backend, 'status', {
      get: () => (backend.established < 0 ? 'down' : 'maintenance'),
      set: () => {
        backend.established = -1;
      },
    });

    const { code } = await run([...words, ...agreed, '--wait=10s']);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });
});
