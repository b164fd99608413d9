import { expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { expiringWorld } from '../../simulator/scenes/expiring.ts';
import { olderEnterpriseWorld } from '../../simulator/scenes/older.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { emptyCommunityWorld } from '../../simulator/scenes/sizes.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';

const runs = ['farms', 'appliance', 'activation', 'certificates', 'backends', 'interfaces', 'farm_config'];

it.each([
  ['busy', busyWorld()],
  ['healthy', healthyPair()[0]],
  ['empty', emptyCommunityWorld()],
  ['expiring', expiringWorld()],
  ['older, with numbers as strings', olderEnterpriseWorld()],
  ['recorded', recordedWorld()],
])('the status of an appliance agrees with the metrics about every object: %s', async (_, world) => {
  const { page, describe } = await givenAppliance(world, { runs });

  const { farms = [], certificates = [], activation, interfaces = [], ...status } = describe();
  const text = await page();

  expect(status.up).toBe(true);
  expect(status.series).toBe(valueOf(text, 'zlb_exporter_series'));
  const isCurrent = (line: string): boolean => line.endsWith(' 1');
  expect(farms).toHaveLength(seriesOf(text, 'zlb_farm_status').filter(isCurrent).length);
  expect(farms.flatMap(({ backends = [] }) => backends)).toHaveLength(
    seriesOf(text, 'zlb_backend_status').filter(isCurrent).length,
  );
  expect(certificates).toHaveLength(seriesOf(text, 'zlb_certificate_info').length);
  expect(interfaces).toHaveLength(seriesOf(text, 'zlb_interface_info').length);
  expect(activation?.status).toBe(stateOf(text, 'zlb_activation_status'));
  for (const { name: farm, state, established, backends } of farms) {
    expect(state).toBe(stateOf(text, 'zlb_farm_status', { farm }));
    expect(established).toBe(valueOf(text, 'zlb_farm_established_connections', { farm }));
    for (const { service, backend, state: ofBackend } of backends ?? [])
      expect(ofBackend).toBe(stateOf(text, 'zlb_backend_status', { farm, service, backend }));
  }
  for (const { file, kind, notAfterSeconds, isUnreadable, usedBy } of certificates) {
    expect(notAfterSeconds).toBe(valueOf(text, 'zlb_certificate_not_after_timestamp_seconds', { file }));
    expect(Number(isUnreadable)).toBe(valueOf(text, 'zlb_certificate_parse_error', { file }));
    const users = farms.filter(
      (farm) => seriesOf(text, 'zlb_farm_certificate_info', { farm: farm.name, file }).length > 0,
    );
    if (kind === 'certificate' && usedBy) expect(usedBy).toEqual(users.map(({ name }) => name));
  }
});
