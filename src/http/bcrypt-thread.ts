import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { toError } from '../lib/check.ts';

/** What goes to the thread; the answer has the same id. */
export interface Comparison {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

interface Verdict {
  readonly id: number;
  readonly matches: boolean;
}

/** Compares passwords with bcrypt hashes one by one, in a thread that starts with the first. */
export interface BcryptThread {
  /** Rejects when the thread ends, which is then started anew by the next call. */
  compare(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Left alone it takes what the flags of the process allow, which are made for a quarter of a million series. */
const enoughMemory = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

export function createBcryptThread(): BcryptThread {
  const waiting = new Map<number, PromiseWithResolvers<boolean>>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    // Beside this file, which is TypeScript before it is built.
    const started = new Worker(new URL(`bcrypt-worker${extname(import.meta.filename)}`, import.meta.url), {
      resourceLimits: enoughMemory,
    });
    started.unref();
    started.on('message', ({ id, matches }: Verdict) => {
      waiting.get(id)?.resolve(matches);
      waiting.delete(id);
    });
    started.on('error', (error) => fail(started, toError(error)));
    started.on('exit', () => fail(started, new Error('the thread that compares passwords ended')));
    return started;
  }

  function fail(ended: Worker, error: Error): void {
    // It has failed already, and another one is at work.
    if (worker !== ended) return;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  return {
    compare(password, hash) {
      worker ??= start();
      lastId += 1;
      const comparison: Comparison = { id: lastId, password, hash };
      const outcome = Promise.withResolvers<boolean>();
      waiting.set(lastId, outcome);
      worker.postMessage(comparison);
      return outcome.promise;
    },
    async close() {
      await worker?.terminate();
    },
  };
}
