import { statesOf } from '../lib/states.ts';
import { hasProxy } from '../appliance/http-proxy.ts';
import { type ApplianceCollector, farmAreas } from './collector.ts';
import { configuredFarm, reportedSettings } from './configured.ts';
import { type FarmList, readFarms } from './farm-list.ts';
import { rowsOf } from './rows.ts';

const source = '(GET /farms, else GET /farms/{farmname}/status';
const farmRows = rowsOf((list: FarmList) => list.farms, { farm: ({ name }) => name });
const listRows = rowsOf((list: FarmList) => [list], {});

/**
 * State of every farm. `needed restart` hides the health of its backends: read
 * those too (docs/api.md §2.1).
 */
export const farmsCollector: ApplianceCollector<FarmList> = {
  name: 'farms',
  schedule: '*/30 * * * * *',
  maxStaleMs: 180_000,
  enabled: true,
  refreshedBy: [...farmAreas, 'interfaces', 'letsencrypt'],
  withoutReading: { farms: [], excluded: undefined },
  collect: (context) => readFarms(context, context.fresh(farmsCollector)),
  isPartial: ({ isOneByOne }) => isOneByOne === true,
  entity: farmRows.entity('farm', ({ state }) => state),
  configured: ({ farms }) =>
    farms.map(({ name, profile, vip, vport }) => {
      // A summary, which has no address, says http of an HTTPS farm as well.
      const isKnown = profile !== 'http' || vip !== undefined;
      return configuredFarm(name, reportedSettings({ profile: isKnown ? profile : undefined, vip, vport }));
    }),
  families: [
    farmRows.stateSet(
      'zlb_farm_status',
      `State of a farm, as the appliance words it ${source}, status).`,
      statesOf.farm,
      ({ state }) => state,
    ),
    farmRows.info('zlb_farm_info', 'A farm and where it listens (GET /farms, else GET /farms/{farmname}).', {
      profile: ({ profile }) => profile,
      vip: ({ vip }) => vip ?? '',
      vport: ({ vport }) => vport ?? '',
    }),
    farmRows.gauge(
      'zlb_farm_proxy_answers',
      'Whether the proxy of an HTTP farm answers the appliance; absent while it is not running (GET /farms/{farmname}/status).',
      (farm) => (hasProxy(farm.profile) && farm.state !== 'down' ? Number(!farm.isSilent) : undefined),
    ),
    listRows.gauge(
      'zlb_farms_with_state',
      'Farms whose state was read and is not too old; 0 while no list can be read (GET /farms, else GET /farms/{farmname}/status).',
      (list) => list.farms.filter(({ state }) => state !== 'unknown').length,
    ),
    // Without it a rule could not tell a certificate that nobody uses from one of a farm that is
    // left out.
    listRows.gauge(
      'zlb_farms_excluded',
      'Farms that the configuration leaves out; nothing is known of them (GET /farms, else GET /farms/modules/summary, and farms.exclude).',
      ({ excluded }) => excluded,
    ),
  ],
};
