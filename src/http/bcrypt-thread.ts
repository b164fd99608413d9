import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { toError } from '../lib/check.ts';

/** A message to the thread; its answer has the same id. */
export interface Comparison {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

interface ComparisonResult {
  readonly id: number;
  readonly matches: boolean;
}

/** Compares passwords with bcrypt hashes one by one, in a thread that starts at the first call. */
export interface BcryptThread {
  /** Rejects when the thread ends; the next call starts it again. */
  compare(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Without these limits the thread may use as much memory as the flags of the process allow. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

export function createBcryptThread(): BcryptThread {
  const waiting = new Map<number, PromiseWithResolvers<boolean>>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    // The worker has the extension of this file: .ts from source, .js when built.
    const started = new Worker(new URL(`bcrypt-worker${extname(import.meta.filename)}`, import.meta.url), {
      resourceLimits,
    });
    started.unref();
    started.on('message', ({ id, matches }: ComparisonResult) => {
      waiting.get(id)?.resolve(matches);
      waiting.delete(id);
    });
    started.on('error', (error) => fail(started, toError(error)));
    started.on('exit', () => fail(started, new Error('the thread that compares passwords ended')));
    return started;
  }

  function fail(ended: Worker, error: Error): void {
    // The thread has failed already, and another one has replaced it.
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
