import { expect, it } from 'vitest';
import { drainBackend } from '../../../../src/admin/recipes/backend-maintenance.ts';
import type { RecipeContext } from '../../../../src/admin/recipes/recipe.ts';
import { givenRecipe } from './given-recipe.ts';

type Row = Readonly<Record<string, unknown>>;

const row: Row = { ip: '10.20.0.11', port: '8080', status: 'maintenance', established: 3 };

/** A context of `shop` with these rows of statistics. */
function givenContext(
  backends: readonly Row[],
  known: Omit<Parameters<typeof givenRecipe>[0], 'calls'> = {},
): RecipeContext {
  const replies: Readonly<Record<string, unknown>> = {
    readFarmsSummary: { params: { lslb: [{ name: 'shop', profile: 'http' }] } },
    readFarmStatus: { params: { status: 'up' } },
    listFarms: { params: [{ farmname: 'shop', profile: 'http', status: 'up', vip: '192.0.2.20', vport: '80' }] },
    readFarmStats: { backends },
  };
  return givenRecipe({
    calls: { read: (key) => Promise.resolve(replies[key] as never) },
    params: { farm: 'shop', backend: '0' },
    ...known,
  });
}

it('drain-backend quotes appliance names in the command that ends the remaining connections', async () => {
  const { steps } = await drainBackend.plan(givenContext([{ ...row, id: '0', service: 'front;reboot' }]));

  await expect(steps[0]!.run(() => Promise.resolve(), givenRecipe({}).calls)).rejects.toMatchObject({
    remedy: expect.stringContaining("farmname=shop service='front;reboot' backend=0 action=maintenance mode=cut"),
  });
});

it.each([
  ['back', '2 connections'],
  ['front', '3 connections'],
])(
  'drain-backend finds the backend of the service %s when two services have the same backend id',
  async (service, connections) => {
    const backends = [
      { ...row, id: '0', service: 'front', established: 3 },
      { ...row, id: '0', service: 'back', established: 2 },
    ];
    const context = givenContext(backends, { params: { farm: 'shop', backend: '0', service } });

    const { facts } = await drainBackend.plan(context);

    expect(facts[1]).toContain(connections);
    await expect(drainBackend.plan(givenContext(backends))).rejects.toMatchObject({
      title: '0 means 2 backends of shop',
    });
  },
);

it('drain-backend does not report a drained backend when the appliance omits its connections', async () => {
  const { steps } = await drainBackend.plan(givenContext([{ ...row, id: '0', service: 'front', established: null }]));

  await expect(steps[0]!.run(() => Promise.resolve(), givenRecipe({}).calls)).rejects.toMatchObject({
    title: 'Timed out waiting',
    message: expect.stringContaining('still connections unknown'),
  });
});

it.each([
  ['ten minutes ahead', 600_000],
  ['back by an hour', -3_600_000],
])('drain-backend waits for its full five minutes when the system clock is set %s', async (_, stepMs) => {
  const clock = { wallMs: 1_800_000_000_000, steadyMs: 0 };
  const context = givenContext([{ ...row, id: '0', service: 'front' }], {
    waitMs: undefined,
    now: () => clock.wallMs,
    steadyNow: () => clock.steadyMs,
    async sleep(ms) {
      clock.steadyMs += ms;
      clock.wallMs += ms + stepMs;
    },
  });
  const { steps } = await drainBackend.plan(context);

  await expect(steps[0]!.run(() => Promise.resolve(), givenRecipe({}).calls)).rejects.toMatchObject({
    title: 'Timed out waiting',
  });
  expect(clock.steadyMs).toBe(300_000);
});
