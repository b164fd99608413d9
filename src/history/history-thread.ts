import { type Thread, WorkerClient, workerBeside } from '../lib/worker-client.ts';
import { createGate } from '../lib/time.ts';
import type { EventQuery } from './event.ts';
import type { HistoryRequest, HistoryResponse } from './request-handler.ts';

/** A disk that takes longer is treated as failed. */
const maxWaitMs = 10_000;
/** The most different searches that wait; others are refused. */
const maxSearches = 32;

export type CreateHistoryThread = (file: string | undefined) => Thread<HistoryRequest, HistoryResponse>;

function startThread(file: string | undefined): Thread<HistoryRequest, HistoryResponse> {
  return new WorkerClient(workerBeside(import.meta, 'history-worker'), { workerData: { file } });
}

/**
 * Runs the history in a thread, also without a file, so that an appliance with many changes does not
 * block the event loop. While a response is late, no further request is sent.
 */
export class HistoryThread {
  /** The file, for messages. */
  readonly file: string;
  readonly #thread: Thread<HistoryRequest, HistoryResponse>;
  readonly #searches = new Map<string, Promise<string>>();
  #lastSearch: Promise<unknown> = Promise.resolve();
  readonly #gate = createGate(
    maxWaitMs,
    () => new Error(`the history (${this.file}) did not answer in ${maxWaitMs / 1_000} s`),
  );
  #isClosed = false;

  /** Without a file, the history stays in memory until the thread ends. */
  constructor(file: string | undefined, createThread: CreateHistoryThread = startThread) {
    this.file = file ?? 'in memory';
    this.#thread = createThread(file);
  }

  /** Rejects if the thread fails, or does not answer in time. */
  async request(request: HistoryRequest): Promise<HistoryResponse> {
    if (this.#isClosed) throw new Error(`the history (${this.file}) is closed`);
    const response = await this.#gate(() => this.#thread.request(request));
    if (response.failure !== undefined) throw new Error(response.failure);
    return response;
  }

  /**
   * Resolves to the found events as JSON. One search runs at a time, so that a write waits for at
   * most one, and equal searches that wait share one. `lost` becomes a part of the result.
   */
  async find(query: EventQuery, lost?: number): Promise<string> {
    const key = JSON.stringify(query);
    const waiting = this.#searches.get(key);
    if (waiting) return await waiting;
    if (this.#searches.size >= maxSearches) throw new Error(`${maxSearches} other searches in the history wait`);
    const found = this.#lastSearch.then(async () => {
      this.#searches.delete(key);
      return (await this.request({ do: 'find', query, lost })).found ?? '';
    });
    this.#searches.set(key, found);
    this.#lastSearch = found.catch(() => undefined);
    return await found;
  }

  async terminate(): Promise<void> {
    this.#isClosed = true;
    await this.#thread.terminate();
  }
}
