import { param, type Call, type Handlers } from '../call.ts';
import { farmStatus } from '../farm-state.ts';
import { checkParameters, required, text } from '../parameters.ts';
import { crash, read, refuse, type Reply } from '../reply.ts';
import type { BackendStatus, DatalinkBackend, Farm, L4Backend } from '../world-farms.ts';
import { backendOf, farmOf, serviceOf } from './find.ts';

const description = 'Maintenance of a backend';

/** Takes backends out of service and back (docs/api.md §5.2). */
export const maintenanceHandlers: Handlers = {
  'PUT /farms/{farmname}/backends/{backend}/maintenance': (call) => {
    const farm = farmOf(call, description);
    // 404 for HTTP farms, whose backends stand beneath services.
    if (farm.profile !== 'l4xnat' && farm.profile !== 'datalink')
      return refuse(404, description, 'There is no such backend.');
    const backend = backendOf<L4Backend | DatalinkBackend>(call, farm.backends, description);
    const { action, cuts } = wanted(call);
    if (cuts && farm.profile === 'l4xnat')
      farm.sessions = farm.sessions.filter((session) => session.backend !== backend.id);
    return set(farm, backend, action);
  },

  'PUT /farms/{farmname}/services/{service}/backends/{backend}/maintenance': (call) => {
    const { world } = call;
    const farm = farmOf(call, description);
    if (farm.profile !== 'http')
      return refuse(400, description, `Farms of the profile ${farm.profile} have no services.`);
    const service = serviceOf(call, farm, description);
    const id = Number(param(call, 'backend'));
    // The check of the id is off by one (docs/api.md §5.2).
    if (id > service.backends.length) return refuse(404, description, 'There is no such backend.');
    const { action, cuts } = wanted(call);
    if (farm.running && farm.needsRestart)
      return refuse(400, description, 'A change is pending; restart the farm first.');
    if (!farm.running && world.edition === 'community' && world.release === 'newest') crash();
    if (cuts && service.persistence !== '')
      service.sessions = service.sessions.filter((session) => session.backend !== id);
    return set(farm, service.backends[id], action);
  },
};

function wanted(call: Call): { readonly action: 'up' | 'maintenance'; readonly cuts: boolean } {
  const model = {
    action: required({ values: ['up', 'maintenance'] }),
    mode: { nonBlank: true, values: ['drain', 'cut'] },
  } as const;
  const input = checkParameters(call, description, model);
  const action = text(input, 'action') === 'up' ? 'up' : 'maintenance';
  if (action === 'up' && 'mode' in input) refuse(400, description, `'mode' does not go with 'up'.`);
  return { action, cuts: text(input, 'mode') === 'cut' };
}

/** The message stands inside `params` here (docs/api.md §5.2). */
function set(
  farm: Farm,
  backend: { status: BackendStatus; established: number } | undefined,
  action: 'up' | 'maintenance',
): Reply {
  if (backend) backend.status = action;
  return read(description, { action, farm: { status: farmStatus(farm) }, message: `${action} is done.` });
}
