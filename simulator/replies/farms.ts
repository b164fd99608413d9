import { type Call, crash, type Handlers, json, param, read, type Reply } from '../call.ts';
import { type Farm, farmStatus } from '../world-farms.ts';
import { isNewestCommunity } from '../world.ts';
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
  zproxySessions,
} from './farm-views.ts';
import { farmOf, flatFarmOf, httpFarmOf, serviceOf } from './find.ts';

/** Reads of farms (docs/api.md §3.7 to §3.10). */
export const farmReadHandlers: Handlers = {
  'GET /farms': (call) => read(farmList(call).map(listEntry)),

  'GET /farms/modules/summary': (call) => {
    const { lslb, dslb, gslb } = modulesOf(call);
    const both = { lslb: lslb.map(summaryEntry), dslb: dslb.map(summaryEntry) };
    const hasGslb = call.world.product !== 'skudonet' || call.world.edition === 'enterprise';
    return read({ ...both, ...(hasGslb && { gslb: gslb.map(summaryEntry) }) });
  },

  'GET /farms/{farmname}': farmDetail,

  'GET /farms/{farmname}/status': (call) => read({ status: farmStatus(farmOf(call)) }),

  'GET /farms/{farmname}/backends': (call) => read(flatBackends(call.world, flatFarmOf(call))),

  'GET /farms/{farmname}/services/{service}': (call) => {
    const farm = httpFarmOf(call);
    const service = serviceOf(call, farm);
    const view = serviceView(call.world, farm, service);
    return read(call.world.proxy === 'zproxy' ? { ...view, sessions: zproxySessions(service) } : view);
  },

  'GET /farms/{farmname}/services/{service}/backends': (call) => {
    const farm = httpFarmOf(call);
    const service = farm.services.find(({ id }) => id === param(call, 'service'));
    // Not a 404: an unknown service is null here (docs/api.md §3.10).
    return read(service ? httpBackends(call.world, farm, service) : null);
  },
};

/** Leaves out datalink farms on the newest Community release, which has no module for them. */
function farmList(call: Call): readonly Farm[] {
  return visibleFarms(call).filter(({ profile }) => profile !== 'datalink' || !isNewestCommunity(call.world));
}

function modulesOf(call: Call) {
  const farms = farmList(call);
  const of = (...profiles: Farm['profile'][]) => farms.filter(({ profile }) => profiles.includes(profile));
  return { lslb: of('http', 'l4xnat'), dslb: of('datalink'), gslb: of('gslb') };
}

function summaryEntry(farm: Farm) {
  return {
    name: farm.name,
    profile: farm.profile,
    services: 'services' in farm ? farm.services.map(({ id }) => id) : undefined,
  };
}

function farmDetail(call: Call): Reply {
  const { world } = call;
  const farm = farmOf(call);
  const ipds =
    world.edition === 'enterprise'
      ? { ipds: ipdsOf(world, farm.name) }
      : world.product === 'skudonet' && farm.profile === 'http'
        ? { ipds: { waf: ipdsOf(world, farm.name).waf } }
        : {};
  switch (farm.profile) {
    case 'http':
      return read(httpParams(world, farm), {
        services: farm.services.map((service) => serviceView(world, farm, service)),
        ...ipds,
      });
    case 'l4xnat':
      return read(l4Params(world, farm), { backends: flatBackends(world, farm), ...ipds });
    case 'datalink':
      // Reading one crashes where the module is gone (docs/api.md §3.9).
      if (isNewestCommunity(world)) crash();
      return read(
        { vip: farm.vip, algorithm: farm.algorithm, status: farmStatus(farm) },
        { backends: flatBackends(world, farm), ...ipds },
      );
    case 'gslb':
      return json(200, gslbView(world, farm));
  }
}
