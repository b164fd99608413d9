import { type Call, crash, type Handlers, json, param, read, type Reply } from '../call.ts';
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
import { farmOf, flatFarmOf, httpFarmOf, serviceOf } from './find.ts';

/** Reads of farms (docs/api.md §3.7 to §3.10). */
export const farmReadHandlers: Handlers = {
  'GET /farms': (call) => read(farmList(call).map(listEntry)),

  'GET /farms/modules/lslb': (call) => read(farmList(call).filter(isLslb).map(listEntry)),

  'GET /farms/modules/dslb': (call) =>
    read(
      farmList(call)
        .filter(({ profile }) => profile === 'datalink')
        .map((farm) => ({ farmname: farm.name, status: farmStatus(farm), vip: farm.vip, interface: farm.vport })),
    ),

  'GET /farms/modules/gslb': (call) =>
    read(
      farmList(call)
        .filter(({ profile }) => profile === 'gslb')
        .map(listEntry),
    ),

  'GET /farms/modules/summary': (call) => {
    const farms = farmList(call);
    return read({
      lslb: farms.filter(isLslb).map(summaryEntry),
      dslb: farms.filter(({ profile }) => profile === 'datalink').map(summaryEntry),
      gslb: farms.filter(({ profile }) => profile === 'gslb').map(summaryEntry),
    });
  },

  'GET /farms/{farmname}': (call) => farmDetail(call, 'full'),
  'GET /farms/{farmname}/summary': (call) => farmDetail(call, 'summary'),

  'GET /farms/{farmname}/status': (call) => read({ status: farmStatus(farmOf(call)) }),

  'GET /farms/{farmname}/backends': (call) => read(flatBackends(call.world, flatFarmOf(call))),

  'GET /farms/{farmname}/services/{service}': (call) => {
    const farm = httpFarmOf(call);
    return read(serviceView(call.world, serviceOf(call, farm)));
  },

  'GET /farms/{farmname}/services/{service}/backends': (call) => {
    const service = httpFarmOf(call).services.find(({ id }) => id === param(call, 'service'));
    // Not a 404: an unknown service is null here (docs/api.md §3.10).
    return read(service ? httpBackends(call.world, service) : null);
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
  const farm = farmOf(call);
  const ipds = world.edition === 'enterprise' ? { ipds: ipdsOf(world, farm.name) } : {};
  switch (farm.profile) {
    case 'http':
      return read(httpParams(farm), {
        services: farm.services.map((service) => (depth === 'full' ? serviceView(world, service) : { id: service.id })),
        ...ipds,
      });
    case 'l4xnat':
      return read(l4Params(world, farm), { backends: flatBackends(world, farm), ...ipds });
    case 'datalink':
      // Reading one crashes where the module is gone (docs/api.md §3.9).
      if (world.edition === 'community' && world.release === 'newest') crash();
      return read(
        { vip: farm.vip, algorithm: farm.algorithm, status: farmStatus(farm) },
        { backends: flatBackends(world, farm), ...ipds },
      );
    case 'gslb':
      return json(200, { ...gslbView(world, farm) });
    case 'eproxy':
      return read(
        { status: farmStatus(farm), vip: farm.vip, vport: Number(farm.vport) },
        { services: farm.services.map((service) => serviceView(world, service)), ...ipds },
      );
  }
}
