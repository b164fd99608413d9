import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './bcrypt-thread.ts';

/** A thread of its own: a comparison computes for a tenth of a second and longer, and scrapes go on meanwhile. */
parentPort?.on('message', ({ id, password, hash }: Comparison) => {
  parentPort?.postMessage({ id, matches: compareSync(password, hash) });
});
