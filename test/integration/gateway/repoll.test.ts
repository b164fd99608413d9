import { describe, expect, it } from 'vitest';
import { createActivationCertificate } from '../../../simulator/replies/activation.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { seriesOf, stateOf } from '../../support/samples.ts';
import { untilAllRead } from '../../support/all-read.ts';
import { until, untilIs } from '../../support/until.ts';

const dayMs = 86_400_000;
const farms = '/appliances/lb-1/farms';

/** A gateway whose appliance has been read once by the collectors named. */
async function given(polls: readonly string[]) {
  const gateway = await givenGateway({ 'lb-1': busyWorld() }, { polls });
  await untilAllRead(gateway.metricsUrl);
  await untilIs(() => gateway.appliance.inFlight, 0);
  const { length: readAtStart } = gateway.appliance.requests;
  return {
    ...gateway,
    /** Returns the requests since the first readings. */
    since: () => gateway.appliance.requests.slice(readAtStart).map(({ method, path }) => `${method} ${path}`),
    /** The schedule of every collector here is up to a day away. */
    soon: async (look: (page: string) => unknown, wanted: unknown) => {
      const seen = await until(
        async () => look(await gateway.metrics()),
        (value) => value === wanted,
      );
      expect(seen).toBe(wanted);
    },
  };
}

const farmStatus = (farm: string) => (page: string) => stateOf(page, 'zlb_farm_status', { farm });
const backendStatus = (farm: string, backend: string) => (page: string) =>
  stateOf(page, 'zlb_backend_status', { farm, backend });

describe('/metrics after a change through the gateway', () => {
  it('shows that a farm is stopped, and that it runs again', async () => {
    const { call, metrics, soon } = await given(['farms']);
    expect(farmStatus('shop')(await metrics())).toBe('problem');

    await call('PUT', `${farms}/shop/actions`, { json: { action: 'stop' } });
    await soon(farmStatus('shop'), 'down');
    await call('PUT', `${farms}/shop/actions`, { json: { action: 'start' } });
    await soon(farmStatus('shop'), 'problem');
  });

  it('shows that a backend is in maintenance, after a poll of that farm alone', async () => {
    const { call, soon, since } = await given(['farms', 'backends']);

    await call('PUT', `${farms}/shop/services/front/backends/0/maintenance`, { json: { action: 'maintenance' } });

    await soon(backendStatus('shop', '10.20.0.11:8080'), 'maintenance');
    const asked = since().filter((path) => path.startsWith('GET /stats/farms/'));
    // The guard looks at the same page before the call.
    expect(new Set(asked)).toEqual(new Set(['GET /stats/farms/shop']));
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('shows a new farm with its backends, and that it is deleted', async () => {
    const { call, metrics, soon } = await given(['farms', 'backends']);

    await call('POST', farms, { json: { farmname: 'new', profile: 'l4xnat', vip: '192.0.2.40', vport: '9999' } });
    await soon((page) => seriesOf(page, 'zlb_farm_info', { farm: 'new' }).length, 1);
    await call('POST', `${farms}/new/backends`, { json: { ip: '10.20.0.99', port: '9999' } });
    await soon((page) => seriesOf(page, 'zlb_backend_info', { farm: 'new' }).length, 1);
    await call('DELETE', `${farms}/new`, { headers: { 'x-confirm': 'new' } });
    await soon((page) => page.includes('farm="new"'), false);

    expect(farmStatus('shop')(await metrics())).toBe('problem');
  });

  it('shows that the appliance is deactivated, and that it is activated again', async () => {
    const { call, metrics, soon } = await given(['activation', 'farms']);
    const status = (page: string) => stateOf(page, 'zlb_activation_status');
    expect(status(await metrics())).toBe('activated');
    const licence = createActivationCertificate({
      kind: 'permanent',
      hostname: 'lb-madrid',
      notBefore: Date.now() - dayMs,
      notAfter: Date.now() + 90 * dayMs,
    });

    await call('DELETE', '/appliances/lb-1/certificates/activation', { headers: { 'x-confirm': 'lb-1' } });
    await soon(status, 'deactivated');
    const answer = await call('POST', '/appliances/lb-1/certificates/activation', {
      body: licence,
      type: 'text/plain',
    });

    expect(answer.status).toBe(200);
    await soon(status, 'activated');
  });

  it.each([
    // Several settings are applied one after the other, and the first failure stops (docs/api.md
    // §8).
    ['a refused change has still changed', { kind: 'status', status: 400 }, 400],
    ['a change without a response has changed', { kind: 'cut' }, 502],
  ] as const)('shows what %s', async (_, fault, status) => {
    const { call, appliance, soon } = await given(['farms']);
    appliance.fail('PUT /farms/{farmname}', fault);
    const farm = appliance.world.farms.get('shop');
    if (farm) farm.running = false;

    const answer = await call('PUT', `${farms}/shop`, { json: { vport: '1' } });

    expect(answer.status).toBe(status);
    await soon(farmStatus('shop'), 'down');
  });
});

it('a read, a dry run, a parameter discovery or a refused call does not trigger a poll', async () => {
  const { call, since } = await given(['farms', 'backends', 'certificates', 'activation', 'backups']);

  await call('GET', `${farms}/shop/status`);
  await call('GET', '/appliances/lb-1/certificates/shop_example_com.pem');
  await call('GET', '/appliances/lb-1/parameters?operation=actOnFarm&farmname=shop');
  await call('PUT', `${farms}/shop/actions`, { json: { action: 'stop' }, headers: { 'x-dry-run': 'true' } });
  await call('PUT', `${farms}/shop/actions`, { json: { action: 'stop' }, as: 'viewer' });
  await call('DELETE', `${farms}/shop`);
  await call('PUT', `${farms}/shop/actions`, { json: { action: 'start' } });
  // The last thing to arrive: by then anything before it would have been asked for.
  await call('POST', '/appliances/lb-1/system/backup', { json: { name: 'pre-change' } });
  const asked = await until(since, (paths) => paths.at(-1) === 'GET /system/backup');

  for (const polled of ['GET /stats/farms', 'GET /certificates/activation/info']) expect(asked).not.toContain(polled);
  // The guard of the start looks for the files of the farm's certificates.
  expect(asked.filter((path) => path === 'GET /certificates')).toHaveLength(1);
});
