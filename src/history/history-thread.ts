import { type Thread, WorkerClient, workerBeside } from '../lib/worker-client.ts';
import { inTime } from '../lib/time.ts';
import type { EventQuery } from './event.ts';
import type { Answer, Question } from './keeper.ts';

/** A disk that takes longer has failed. */
const maxWaitMs = 10_000;
/** Different searches that wait; further ones are refused. */
const maxSearches = 32;

export type CreateHistoryThread = (file: string | undefined) => Thread<Question, Answer>;

function startThread(file: string | undefined): Thread<Question, Answer> {
  return new WorkerClient(workerBeside(import.meta, 'history-worker'), { workerData: { file } });
}

/**
 * Keeps the history in a thread of its own, also in memory: what an appliance makes happen must not
 * hold the event loop. A thread that does not answer is asked nothing more until it does, so that
 * nothing piles up before it.
 */
export class HistoryThread {
  /** For messages. */
  readonly file: string;
  readonly #thread: Thread<Question, Answer>;
  readonly #searches = new Map<string, Promise<string>>();
  #lastSearch: Promise<unknown> = Promise.resolve();
  /** Questions whose answers are late. */
  #late = 0;
  #isClosed = false;

  /** Without a file, the history is in memory until the thread ends. */
  constructor(file: string | undefined, createThread: CreateHistoryThread = startThread) {
    this.file = file ?? 'in memory';
    this.#thread = createThread(file);
  }

  /** Resolves to the answer; rejects with the failure in it, and where the thread does not answer. */
  async ask(question: Question): Promise<Answer> {
    if (this.#late > 0) throw this.#lateError();
    if (this.#isClosed) throw new Error(`the history (${this.file}) is closed`);
    const asked = this.#thread.ask(question);
    const answer = await inTime(asked, maxWaitMs, () => {
      this.#late += 1;
      const over = (): number => (this.#late -= 1);
      asked.then(over, over);
      return this.#lateError();
    });
    if (answer.failure !== undefined) throw new Error(answer.failure);
    return answer;
  }

  /**
   * Resolves to the found events as JSON. One search runs at a time, so that what is written does
   * not wait for many, and those that wait for the same share it.
   */
  async find(query: EventQuery): Promise<string> {
    const key = JSON.stringify(query);
    const waiting = this.#searches.get(key);
    if (waiting) return await waiting;
    if (this.#searches.size >= maxSearches) throw new Error(`${maxSearches} other searches in the history wait`);
    const found = this.#lastSearch.then(async () => {
      this.#searches.delete(key);
      return (await this.ask({ do: 'find', query })).found ?? '';
    });
    this.#searches.set(key, found);
    this.#lastSearch = found.catch(() => undefined);
    return await found;
  }

  async terminate(): Promise<void> {
    this.#isClosed = true;
    await this.#thread.terminate();
  }

  #lateError(): Error {
    return new Error(`the history (${this.file}) did not answer in ${maxWaitMs / 1_000} s`);
  }
}
