import { type Call, param, refuse } from '../call.ts';
import type { Farm, HttpFarm, L4Farm, Service } from '../world-farms.ts';

/** Returns the farm that the path names, or refuses with 404. */
export function farmOf(call: Call, description: string): Farm {
  const name = param(call, 'farmname');
  return call.world.farms.get(name) ?? refuse(404, description, `There is no farm ${name}.`);
}

/**
 * Returns the HTTP farm that the path names. Refuses other profiles with the status that the call
 * uses.
 */
export function httpFarmOf(call: Call, description: string, otherwise = 400): HttpFarm {
  const farm = farmOf(call, description);
  return farm.profile === 'http'
    ? farm
    : refuse(otherwise, description, `Farms of the profile ${farm.profile} have no services.`);
}

/** Returns the L4xNAT farm that the path names. */
export function l4FarmOf(call: Call, description: string, otherwise = 400): L4Farm {
  const farm = farmOf(call, description);
  return farm.profile === 'l4xnat'
    ? farm
    : refuse(otherwise, description, `Farms of the profile ${farm.profile} do not serve this call.`);
}

/** Returns the service that the path names. */
export function serviceOf(call: Call, farm: HttpFarm, description: string, otherwise = 404): Service {
  const id = param(call, 'service');
  return (
    farm.services.find((service) => service.id === id) ??
    refuse(otherwise, description, `The farm ${farm.name} has no service ${id}.`)
  );
}

/** Returns the backend whose id is in the path, among those given. */
export function backendOf<Backend extends { readonly id: number }>(
  call: Call,
  backends: readonly Backend[],
  description: string,
): Backend {
  const id = Number(param(call, 'backend'));
  return backends.find((backend) => backend.id === id) ?? refuse(404, description, `There is no backend ${id}.`);
}

/** Marks a running farm as changed until its restart, and returns the status to print. */
export function pending(farm: HttpFarm): { readonly status?: string } {
  if (!farm.running) return {};
  farm.needsRestart = true;
  return { status: 'needed restart' };
}
