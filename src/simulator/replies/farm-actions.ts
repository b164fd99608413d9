import type { Call, Handlers } from '../call.ts';
import { farmStatus } from '../farm-state.ts';
import { checkParameters, required, text } from '../parameters.ts';
import { done, refuse, type Reply } from '../reply.ts';
import type { Farm } from '../world-farms.ts';
import { isTaken } from './farm-creation.ts';
import { farmOf } from './find.ts';
import { interfaceOfAddress, interfaceStatus } from './interfaces.ts';

const description = 'Act on a farm';

/** Start, stop and restart with their traps (docs/api.md §5.1). */
export const farmActionHandlers: Handlers = {
  'PUT /farms/{farmname}/actions': (call) => {
    const farm = farmOf(call, description);
    const action = text(
      checkParameters(call, description, { action: required({ values: ['stop', 'start', 'restart'] }) }),
      'action',
    );
    // The configuration is tested before every action, stop included.
    if (farm.profile === 'http' && farm.configError !== undefined) return refuse(400, description, farm.configError);
    switch (action) {
      case 'stop':
        farm.running = false;
        break;
      case 'start':
        start(call, farm);
        break;
      default:
        farm.running = false;
        farm.needsRestart = false;
        begin(call, farm);
    }
    return answer(farm, action);
  },
};

function start(call: Call, farm: Farm): void {
  if (farm.running && farm.needsRestart) refuse(400, description, 'A change is pending; restart it.');
  // A second start kills an HTTP farm first, and does nothing elsewhere.
  if (farm.running && farm.profile !== 'http') return;
  farm.running = false;
  farm.needsRestart = false;
  begin(call, farm);
}

/** The checks before a start; what fails here leaves the farm stopped. */
function begin({ world }: Call, farm: Farm): void {
  const nic = interfaceOfAddress(world, farm.vip);
  if (!nic) return refuse(400, description, `No interface has the address ${farm.vip}.`);
  if (interfaceStatus(world, nic) === 'down') return refuse(400, description, `The interface ${nic.name} is down.`);
  if (isTaken(world, farm.vip, farm.vport, farm))
    return refuse(400, description, `${farm.vip}:${farm.vport} is taken.`);
  farm.running = true;
}

function answer(farm: Farm, action: string): Reply {
  return done(description, `${action} is done.`, {
    params: { action, status: action === 'stop' ? farmStatus(farm) : 'up' },
  });
}
