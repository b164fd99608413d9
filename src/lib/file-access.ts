import { inTime } from './time.ts';

/** Maximum time of one operation on a file. */
const maxReadMs = 10_000;
/** Says of a file or folder that it hangs, and what to do. A network drive may have lost its server. */
export const hungFile = `nothing came within ${maxReadMs / 1_000} s; check the disk or the network drive that it is on`;
/** Each operation that hangs holds one of the threads that Node has for files and names. */
const maxHanging = 2;

/** Runs an operation on a file; rejects with the code `ETIMEDOUT` if it takes too long. */
export type FileAccess = <Value>(path: string, operation: () => Promise<Value>) => Promise<Value>;

/**
 * Creates an access to files that gives up on a hung one, such as on a network drive without its
 * server. Tries it again only once the operation has ended. A path has one operation at a time.
 */
export function createFileAccess(maxMs = maxReadMs): FileAccess {
  const last = new Map<string, Promise<unknown>>();
  const hanging = new Set<string>();
  return async (path, operation) => {
    if (hanging.has(path) || hanging.size >= maxHanging) throw noAnswerError();
    const running = (last.get(path) ?? Promise.resolve()).then(operation);
    // Nobody waits for it any more once it is late.
    const ended = running
      .catch(() => undefined)
      .then(() => {
        if (last.get(path) !== ended) return;
        last.delete(path);
        hanging.delete(path);
      });
    last.set(path, ended);
    const late = (): Error => {
      hanging.add(path);
      return noAnswerError();
    };
    return await inTime(running, maxMs, late);
  };
}

function noAnswerError(): Error {
  return Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
}
