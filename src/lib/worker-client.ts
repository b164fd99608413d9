import { extname } from 'node:path';
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads';
import { toError } from './check.ts';

interface Message<Content> {
  readonly id: number;
  readonly content: Content;
}

/** Returns the file of a worker beside a module: .ts from source, .js when built. */
export function workerBeside({ filename, url }: ImportMeta, name: string): URL {
  return new URL(`${name}${extname(filename)}`, url);
}

/** The part of a {@link WorkerClient} that callers use. */
export type Thread<Request, Response> = Pick<WorkerClient<Request, Response>, 'isRunning' | 'request' | 'terminate'>;

/** A thread that handles requests, one after another. It starts at the first request. */
export class WorkerClient<Request, Response> {
  readonly #file: URL;
  readonly #options: WorkerOptions;
  readonly #pending = new Map<number, PromiseWithResolvers<Response>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(file: URL, options: WorkerOptions) {
    this.#file = file;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Resolves to the response. Rejects when the thread ends; the next request starts it again. */
  async request(content: Request): Promise<Response> {
    this.#worker ??= this.#start();
    this.#lastId += 1;
    const response = Promise.withResolvers<Response>();
    this.#pending.set(this.#lastId, response);
    this.#worker.postMessage({ id: this.#lastId, content } satisfies Message<Request>);
    return await response.promise;
  }

  async terminate(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const started = new Worker(this.#file, this.#options);
    started.unref();
    started.on('message', ({ id, content }: Message<Response>) => {
      this.#pending.get(id)?.resolve(content);
      this.#pending.delete(id);
    });
    started.on('error', (error) => this.#fail(started, toError(error)));
    started.on('exit', () => this.#fail(started, new Error(`the thread of ${this.#file.pathname} ended`)));
    return started;
  }

  #fail(ended: Worker, error: Error): void {
    // The thread has failed already, and another one has replaced it.
    if (this.#worker !== ended) return;
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** Handles the requests to this thread, one after another; an error ends it. */
export function serveRequests<Request, Response>(handle: (request: Request) => Response | Promise<Response>): void {
  let last = Promise.resolve();
  parentPort?.on('message', ({ id, content }: Message<Request>) => {
    last = last.then(async () => {
      parentPort?.postMessage({ id, content: await handle(content) } satisfies Message<Response>);
    });
  });
}
