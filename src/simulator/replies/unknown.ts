import type { Call } from '../call.ts';
import { done, read, type Reply } from '../reply.ts';

/** Answers a route that has no handler of its own: an empty list to a read, the common success body to a write. */
export function answerAnyway({ route }: Call): Reply {
  return route.startsWith('GET ') ? read('A read', []) : done('A write', 'It was done.');
}
