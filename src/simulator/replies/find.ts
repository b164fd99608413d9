import { param, type Call } from '../call.ts';
import { refuse } from '../reply.ts';
import type { Farm, HttpFarm, L4Farm, Service } from '../world-farms.ts';

/** The farm named in the path, or a 404. */
export function farmOf(call: Call, description: string): Farm {
  const name = param(call, 'farmname');
  return call.world.farms.get(name) ?? refuse(404, description, `There is no farm ${name}.`);
}

/** The farm named in the path if it has HTTP services, else the status that the call has for that. */
export function httpFarmOf(call: Call, description: string, otherwise = 400): HttpFarm {
  const farm = farmOf(call, description);
  return farm.profile === 'http'
    ? farm
    : refuse(otherwise, description, `Farms of the profile ${farm.profile} have no services.`);
}

/** The L4xNAT farm named in the path. */
export function l4FarmOf(call: Call, description: string, otherwise = 400): L4Farm {
  const farm = farmOf(call, description);
  return farm.profile === 'l4xnat'
    ? farm
    : refuse(otherwise, description, `Farms of the profile ${farm.profile} do not serve this call.`);
}

/** The service named in the path. */
export function serviceOf(call: Call, farm: HttpFarm, description: string, otherwise = 404): Service {
  const id = param(call, 'service');
  return (
    farm.services.find((service) => service.id === id) ??
    refuse(otherwise, description, `The farm ${farm.name} has no service ${id}.`)
  );
}

/** The backend with the id in the path, among those given. */
export function backendOf<Backend extends { readonly id: number }>(
  call: Call,
  backends: readonly Backend[],
  description: string,
): Backend {
  const id = Number(param(call, 'backend'));
  return backends.find((backend) => backend.id === id) ?? refuse(404, description, `There is no backend ${id}.`);
}
