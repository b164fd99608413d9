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

/** Answers questions, one after another. */
export type Thread<Question, Answer> = Pick<WorkerClient<Question, Answer>, 'isRunning' | 'ask' | 'terminate'>;

/** A thread that answers questions, one after another. It starts at the first question. */
export class WorkerClient<Question, Answer> {
  readonly #file: URL;
  readonly #options: WorkerOptions;
  readonly #asked = new Map<number, PromiseWithResolvers<Answer>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(file: URL, options: WorkerOptions) {
    this.#file = file;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Rejects when the thread ends; the next question starts it again. */
  async ask(question: Question): Promise<Answer> {
    this.#worker ??= this.#start();
    this.#lastId += 1;
    const answered = Promise.withResolvers<Answer>();
    this.#asked.set(this.#lastId, answered);
    this.#worker.postMessage({ id: this.#lastId, content: question } satisfies Message<Question>);
    return await answered.promise;
  }

  async terminate(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const started = new Worker(this.#file, this.#options);
    started.unref();
    started.on('message', ({ id, content }: Message<Answer>) => {
      this.#asked.get(id)?.resolve(content);
      this.#asked.delete(id);
    });
    started.on('error', (error) => this.#fail(started, toError(error)));
    started.on('exit', () => this.#fail(started, new Error(`the thread of ${this.#file.pathname} ended`)));
    return started;
  }

  #fail(ended: Worker, error: Error): void {
    // The thread has failed already, and another one has replaced it.
    if (this.#worker !== ended) return;
    this.#worker = undefined;
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

/** Answers the questions to this thread, one after another; an error ends it. */
export function serveRequests<Question, Answer>(answer: (question: Question) => Answer | Promise<Answer>): void {
  let last = Promise.resolve();
  parentPort?.on('message', ({ id, content }: Message<Question>) => {
    last = last.then(async () => {
      parentPort?.postMessage({ id, content: await answer(content) } satisfies Message<Answer>);
    });
  });
}
