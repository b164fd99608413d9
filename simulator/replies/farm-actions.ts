import { type Call, crash, done, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import { checkParameters, onlyText, required, text } from '../parameters.ts';
import { type DatalinkBackend, type Farm, farmStatus, type HttpBackend, type L4Backend } from '../world-farms.ts';
import { isNewestCommunity } from '../world.ts';
import { isTaken } from './farm-changes.ts';
import { loadRules, touchL4Daemon } from '../l4-daemon.ts';
import { endHang } from '../hung-proxy.ts';
import { backendOf, farmOf, flatFarmOf, httpFarmOf, serviceOf } from './find.ts';
import { interfaceOfAddress, interfaceStatus } from './interfaces.ts';

/** Actions on farms and their backends. */
export const farmActionHandlers: Handlers = {
  // Start, stop and restart of farms (docs/api.md §5.1).
  'PUT /farms/{farmname}/actions': (call) => {
    const farm = farmOf(call);
    const action = onlyText(call, 'action', { values: ['stop', 'start', 'restart'] });
    // The configuration is tested before every action, stop included.
    if (farm.profile === 'http' && farm.configError !== undefined) return refuse(400, farm.configError);
    const isStart = action !== 'stop';
    if (isStart && !needsStart(farm, action)) return acted(call, farm, action);
    farm.running = false;
    endHang(farm);
    const unanswered = touchL4Daemon(call.world, farm, isStart);
    if (unanswered) return unanswered;
    if (isStart) {
      farm.needsRestart = false;
      begin(call, farm);
    }
    return acted(call, farm, action);
  },

  // Maintenance of backends (docs/api.md §5.2).
  'PUT /farms/{farmname}/backends/{backend}/maintenance': (call) => {
    const farm = flatFarmOf(call, 404);
    const backend = backendOf<L4Backend | DatalinkBackend>(call, farm.backends);
    const { action, cuts } = wanted(call);
    if (cuts && farm.profile === 'l4xnat')
      farm.sessions = farm.sessions.filter((session) => session.backend !== backend.id);
    return set(farm, backend, action);
  },

  'PUT /farms/{farmname}/services/{service}/backends/{backend}/maintenance': (call) => {
    const farm = httpFarmOf(call);
    const service = serviceOf(call, farm);
    const id = Number(param(call, 'backend'));
    // The appliance's check of the id is off by one (docs/api.md §5.2).
    if (id > service.backends.length) return refuse(404, 'There is no such backend.');
    const { action, cuts } = wanted(call);
    if (farm.running && farm.needsRestart) return refuse(400, 'A change is pending; restart the farm first.');
    if (!farm.running && isNewestCommunity(call.world)) crash();
    if (cuts && service.persistence !== '')
      service.sessions = service.sessions.filter((session) => session.backend !== id);
    return set(farm, service.backends[id], action);
  },
};

function acted({ world }: Call, farm: Farm, action: string): Reply {
  // zproxy's API reads the state again; the others say `up` after each start.
  const status = action === 'stop' || world.proxy === 'zproxy' ? farmStatus(farm) : 'up';
  return done(`${action} is done.`, { params: { action, status } });
}

function needsStart(farm: Farm, action: string): boolean {
  if (action === 'restart' || farmStatus(farm) === 'down') return true;
  if (farm.needsRestart) refuse(400, 'A change is pending; restart it.');
  // A second start stops an HTTP farm first; for other profiles it does nothing.
  return farm.profile === 'http';
}

/** Checks and starts a farm. A failed check leaves the farm stopped. */
function begin({ world }: Call, farm: Farm): void {
  const nic = interfaceOfAddress(world, farm.vip);
  if (!nic) return refuse(400, `No interface has the address ${farm.vip}.`);
  if (interfaceStatus(world, nic) === 'down') return refuse(400, `The interface ${nic.name} is down.`);
  if (isTaken(world, farm.vip, farm.vport, farm)) return refuse(400, `${farm.vip}:${farm.vport} is taken.`);
  farm.running = true;
  loadRules(world, farm);
  if (farm.profile === 'http') farm.loaded = farm.certificates.flatMap((file) => world.certificates.get(file) ?? []);
}

function wanted(call: Call): { readonly action: 'up' | 'maintenance'; readonly cuts: boolean } {
  const model = {
    action: required({ values: ['up', 'maintenance'] }),
    mode: { nonBlank: true, values: ['drain', 'cut'] },
  } as const;
  const input = checkParameters(call, model);
  const action = text(input, 'action') === 'up' ? 'up' : 'maintenance';
  if (action === 'up' && 'mode' in input) refuse(400, `'mode' does not go with 'up'.`);
  return { action, cuts: text(input, 'mode') === 'cut' };
}

/** Sets the state. The message is inside `params` here (docs/api.md §1.5). */
function set(
  farm: Farm,
  backend: Pick<HttpBackend, 'status' | 'statusAfter' | 'established'> | undefined,
  action: 'up' | 'maintenance',
): Reply {
  if (backend) {
    // A fault that keeps it down goes on.
    const isKeptDown = backend.statusAfter !== undefined;
    if (isKeptDown) backend.statusAfter = action;
    backend.status = isKeptDown && action === 'up' ? 'down' : action;
  }
  return read({ action, farm: { status: farmStatus(farm) }, message: `${action} is done.` });
}
