import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { emptyCommunityWorld } from '../../simulator/scenes/sizes.ts';
import { httpFarm, service } from '../../simulator/world-parts.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { until } from '../support/until.ts';

const eager = ['farms', 'backends', 'farm_config', 'certificates', 'interfaces'];

interface Farm {
  readonly name: string;
  readonly backends: readonly unknown[] | null;
  readonly configuredBackends?: readonly unknown[];
}

interface Appliance {
  readonly name: string;
  readonly farms: readonly Farm[] | null;
  readonly [field: string]: unknown;
}

async function applianceOf(url: string): Promise<Appliance | undefined> {
  const answer = (await (await fetch(`${url}/api/status`)).json()) as { readonly appliances: readonly Appliance[] };
  return answer.appliances[0];
}

async function farmOf(url: string, name: string): Promise<Farm | undefined> {
  return (await applianceOf(url))?.farms?.find((farm) => farm.name === name);
}

/** The text of a page, without its markup. */
async function pageText(address: string): Promise<string> {
  const text = await (await fetch(address)).text();
  return text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
}

describe('the backends of a stopped farm', () => {
  it('are unknown, and the configured ones are listed without a state', async () => {
    const { url } = await givenExporter({ 'lb-madrid': busyWorld() }, { eager });
    const read = until(
      () => farmOf(url, 'oldportal'),
      (farm) => farm?.configuredBackends !== undefined,
    );

    expect(await read).toMatchObject({
      backends: null,
      configuredBackends: [{ service: 'main', backend: '10.20.0.33:80' }],
    });
    const page = await pageText(`${url}/?appliance=lb-madrid&farm=oldportal`);
    expect(page).toContain('Its backends are not known while it is down. Configured: 10.20.0.33:80.');
    expect(page).not.toMatch(/no backends/i);
    expect(await pageText(`${url}/?q=10.20.0.33`), 'an address that somebody looks for').toContain('1 match');
  });

  it('are known while it runs, and unknown when it is stopped', async () => {
    const world = busyWorld();
    const { url } = await givenExporter({ 'lb-madrid': world }, { eager });
    const shop = world.farms.get('shop');
    await until(
      () => farmOf(url, 'shop'),
      (farm) => (farm?.backends?.length ?? 0) > 0,
    );

    if (shop) shop.running = false;
    const seen = new Set<number | undefined>();
    await until(
      async () => {
        const farm = await farmOf(url, 'shop');
        seen.add(farm?.backends?.length);
        return farm;
      },
      (farm) => farm?.backends === null,
    );
    expect(seen, 'never none').not.toContain(0);

    if (shop) shop.running = true;
    await until(
      () => farmOf(url, 'shop'),
      (farm) => (farm?.backends?.length ?? 0) > 0,
    );
  });
});

it('shows a farm without backends if the appliance reports that', async () => {
  const world = emptyCommunityWorld();
  const farm = httpFarm({ name: 'empty', vip: '192.0.2.9', vport: '80', services: [service('main')] });
  world.farms.set(farm.name, farm);
  const { url } = await givenExporter({ 'lb-1': world }, { eager });

  await until(
    () => farmOf(url, 'empty'),
    (each) => each?.backends?.length === 0,
  );

  expect(await pageText(`${url}/?appliance=lb-1`)).toContain('It has no backends.');
});

it('has null for unread values, and [] for empty ones', async () => {
  const silent = await givenExporter({ 'lb-1': emptyCommunityWorld() });
  await silent.stop();
  silent.appliances[0]?.fail('*', { kind: 'hang' });
  const silentUrl = await silent.start();
  const empty = await givenExporter({ 'lb-1': emptyCommunityWorld() }, { eager });
  await until(
    () => applianceOf(empty.url),
    (appliance) => appliance?.farms !== null && appliance?.certificates !== null,
  );

  expect(await applianceOf(silentUrl)).toMatchObject({
    up: null,
    farms: null,
    certificates: null,
    interfaces: null,
    activation: null,
    product: null,
    version: null,
    edition: null,
    hostname: null,
  });
  expect(await applianceOf(empty.url)).toMatchObject({ farms: [], certificates: [] });
  const page = await pageText(`${silentUrl}/?appliance=lb-1`);
  expect(page).not.toMatch(/no farms|There is none/);
  expect(page, 'a section that is missing would look like none').toContain('Interfaces They were not read');
});
