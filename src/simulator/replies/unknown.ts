import type { Call } from '../call.ts';
import { checkParameters } from '../parameters.ts';
import { done, read, type Reply } from '../reply.ts';
import { farmOf } from './find.ts';

/**
 * Answers a route that has no handler of its own: an empty list to a read, the common success body to a write. A farm
 * in the path must exist, and a write that sends `{}` gets the list of parameters, though an empty one.
 */
export function answerAnyway(call: Call): Reply {
  if ('farmname' in call.params) farmOf(call, 'A farm');
  if (call.route.startsWith('GET ')) return read('A read', []);
  const sentNothing =
    call.json !== undefined && Object.keys(call.json).length === 0 && !call.route.startsWith('DELETE ');
  if (sentNothing) checkParameters(call, 'A write', {});
  return done('A write', 'It was done.');
}
