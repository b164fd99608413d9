import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './password-check.ts';

/** Runs in a thread of its own: a comparison takes 0.1 s or longer, and must not delay scrapes. */
parentPort?.on('message', ({ id, password, hash }: Comparison) => {
  parentPort?.postMessage({ id, matches: compareSync(password, hash) });
});
