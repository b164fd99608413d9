import { type Call, done, type Handlers, read, type Reply } from './call.ts';
import { checkParameters } from './parameters.ts';
import { activationHandlers } from './replies/activation.ts';
import { backendHandlers } from './replies/backends.ts';
import { certificateHandlers } from './replies/certificates.ts';
import { clusterHandlers } from './replies/cluster.ts';
import { farmActionHandlers } from './replies/farm-actions.ts';
import { farmChangeHandlers } from './replies/farm-changes.ts';
import { farmStatsHandlers } from './replies/farm-stats.ts';
import { farmguardianHandlers } from './replies/farmguardians.ts';
import { farmReadHandlers } from './replies/farms.ts';
import { farmOf } from './replies/find.ts';
import { httpFarmHandlers } from './replies/http-farms.ts';
import { listHandlers } from './replies/lists.ts';
import { interfaceHandlers } from './replies/interfaces.ts';
import { systemStatsHandlers } from './replies/system-stats.ts';
import { systemHandlers } from './replies/system.ts';

/**
 * The calls that the simulator answers from its state, by route; `answerAnyway` answers the others.
 */
export const handlers: Handlers = {
  ...activationHandlers,
  ...backendHandlers,
  ...certificateHandlers,
  ...clusterHandlers,
  ...farmActionHandlers,
  ...farmChangeHandlers,
  ...farmReadHandlers,
  ...farmStatsHandlers,
  ...farmguardianHandlers,
  ...httpFarmHandlers,
  ...listHandlers,
  ...interfaceHandlers,
  ...systemHandlers,
  ...systemStatsHandlers,
};

/**
 * Answers a route that has no handler: a read gets an empty list, a write what it sent.
 * A farm in the path must exist. A write that sends `{}` gets an empty list of parameters.
 */
export function answerAnyway(call: Call): Reply {
  if ('farmname' in call.params) farmOf(call);
  if (call.route.startsWith('GET ')) return read([]);
  const sentNothing =
    call.json !== undefined && Object.keys(call.json).length === 0 && !call.route.startsWith('DELETE ');
  if (sentNothing) checkParameters(call, {});
  return done('It was done.', call.json === undefined ? undefined : { params: call.json });
}
