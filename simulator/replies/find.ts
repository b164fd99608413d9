import { type Call, param, refuse } from '../call.ts';
import {
  type DatalinkFarm,
  type Farm,
  type FarmState,
  farmStatus,
  type HttpFarm,
  type L4Farm,
  type Service,
} from '../world-farms.ts';

/** Returns the farm that the path names, or refuses. */
export function farmOf(call: Call, otherwise = 404): Farm {
  const name = param(call, 'farmname');
  return call.world.farms.get(name) ?? refuse(otherwise, `There is no farm ${name}.`);
}

/** Returns the HTTP farm that the path names. */
export function httpFarmOf(call: Call): HttpFarm {
  const farm = farmOf(call);
  return farm.profile === 'http' ? farm : refuse(400, `Farms of the profile ${farm.profile} have no services.`);
}

/** Returns the L4xNAT farm that the path names. */
export function l4FarmOf(call: Call): L4Farm {
  const farm = farmOf(call);
  return farm.profile === 'l4xnat' ? farm : refuse(400, `Farms of the profile ${farm.profile} do not serve this call.`);
}

/** Returns the farm that the path names. Refuses a farm whose backends belong to services. */
export function flatFarmOf(call: Call, otherwise = 400): L4Farm | DatalinkFarm {
  const farm = farmOf(call);
  if (farm.profile === 'l4xnat' || farm.profile === 'datalink') return farm;
  return refuse(otherwise, `The backends of ${farm.name} belong to its services.`);
}

/** Returns the service that the path names. */
export function serviceOf(call: Call, farm: HttpFarm): Service {
  const id = param(call, 'service');
  return farm.services.find((service) => service.id === id) ?? refuse(404, `${farm.name} has no service ${id}.`);
}

/** Returns the backend whose id is in the path, among those given. */
export function backendOf<Backend extends { readonly id: number }>(call: Call, backends: readonly Backend[]): Backend {
  const id = Number(param(call, 'backend'));
  return backends.find((backend) => backend.id === id) ?? refuse(404, `There is no backend ${id}.`);
}

/**
 * Marks a running farm as changed until its restart, and returns the status to print. zproxy loads
 * each change at once.
 */
export function pending({ world }: Call, farm: HttpFarm): { readonly status?: FarmState } {
  if (world.proxy === 'zproxy') return { status: farmStatus(farm) };
  if (!farm.running) return {};
  farm.needsRestart = true;
  return { status: 'needed restart' };
}
