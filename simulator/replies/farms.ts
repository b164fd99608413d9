import { type Call, crash, type Handlers, json, param, read, refuse, type Reply } from '../call.ts';
import { type Farm, farmStatus } from '../world-farms.ts';
import {
  flatBackends,
  gslbView,
  httpBackends,
  httpParams,
  ipdsOf,
  l4Params,
  listEntry,
  serviceView,
  visibleFarms,
} from './farm-views.ts';
import { farmOf, httpFarmOf, serviceOf } from './find.ts';

/** Reads of farms (docs/api.md §3.7 to §3.10). */
export const farmReadHandlers: Handlers = {
  'GET /farms': (call) => read('All farms', farmList(call).map(listEntry)),

  'GET /farms/modules/lslb': (call) => read('Farms of layers 4 and 7', farmList(call).filter(isLslb).map(listEntry)),

  'GET /farms/modules/dslb': (call) =>
    read(
      'Datalink farms',
      farmList(call)
        .filter(({ profile }) => profile === 'datalink')
        .map((farm) => ({ farmname: farm.name, status: farmStatus(farm), vip: farm.vip, interface: farm.vport })),
    ),

  'GET /farms/modules/gslb': (call) =>
    read(
      'GSLB farms',
      farmList(call)
        .filter(({ profile }) => profile === 'gslb')
        .map(listEntry),
    ),

  'GET /farms/modules/summary': (call) => {
    const farms = farmList(call);
    return read('Farms by module', {
      lslb: farms.filter(isLslb).map(summaryEntry),
      dslb: farms.filter(({ profile }) => profile === 'datalink').map(summaryEntry),
      gslb: farms.filter(({ profile }) => profile === 'gslb').map(summaryEntry),
    });
  },

  'GET /farms/{farmname}': (call) => farmDetail(call, 'full'),
  'GET /farms/{farmname}/summary': (call) => farmDetail(call, 'summary'),

  'GET /farms/{farmname}/status': (call) => {
    const description = 'State of a farm';
    return read(description, { status: farmStatus(farmOf(call, description)) });
  },

  'GET /farms/{farmname}/backends': (call) => {
    const description = 'Backends of a farm';
    const farm = farmOf(call, description);
    if (farm.profile !== 'l4xnat' && farm.profile !== 'datalink') {
      return refuse(400, description, `The backends of ${farm.name} belong to its services.`);
    }
    return read(description, flatBackends(call.world, farm));
  },

  'GET /farms/{farmname}/services/{service}': (call) => {
    const description = 'A service of a farm';
    const farm = httpFarmOf(call, description);
    return read(description, serviceView(call.world, serviceOf(call, farm, description)));
  },

  'GET /farms/{farmname}/services/{service}/backends': (call) => {
    const description = 'Backends of a service';
    const service = httpFarmOf(call, description).services.find(({ id }) => id === param(call, 'service'));
    // Not a 404: an unknown service is null here (docs/api.md §3.10).
    return read(description, service ? httpBackends(call.world, service) : null);
  },
};

/** Leaves out datalink farms on the newest Community release, which has no module for them. */
function farmList(call: Call): readonly Farm[] {
  const hidesDatalink = call.world.edition === 'community' && call.world.release === 'newest';
  return visibleFarms(call).filter(({ profile }) => !(hidesDatalink && profile === 'datalink'));
}

function isLslb({ profile }: Farm): boolean {
  return profile === 'http' || profile === 'l4xnat' || profile === 'eproxy';
}

function summaryEntry(farm: Farm) {
  return {
    name: farm.name,
    profile: farm.profile,
    services: 'services' in farm ? farm.services.map(({ id }) => id) : undefined,
  };
}

function farmDetail(call: Call, depth: 'full' | 'summary'): Reply {
  const { world } = call;
  const description = 'A farm';
  const farm = farmOf(call, description);
  const ipds = world.edition === 'enterprise' ? { ipds: ipdsOf(world, farm.name) } : {};
  switch (farm.profile) {
    case 'http':
      return read(description, httpParams(farm), {
        services: farm.services.map((service) => (depth === 'full' ? serviceView(world, service) : { id: service.id })),
        ...ipds,
      });
    case 'l4xnat':
      return read(description, l4Params(world, farm), { backends: flatBackends(world, farm), ...ipds });
    case 'datalink':
      // Reading one crashes where the module is gone (docs/api.md §3.9).
      if (world.edition === 'community' && world.release === 'newest') crash();
      return read(
        description,
        { vip: farm.vip, algorithm: farm.algorithm, status: farmStatus(farm) },
        { backends: flatBackends(world, farm), ...ipds },
      );
    case 'gslb':
      return json(200, { description, ...gslbView(world, farm) });
    case 'eproxy':
      return read(
        description,
        { status: farmStatus(farm), vip: farm.vip, vport: Number(farm.vport) },
        { services: farm.services.map((service) => serviceView(world, service)), ...ipds },
      );
  }
}
