import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, isRecord, toError } from '../lib/check.ts';
import { makeFolder, openRegularFile } from '../lib/disk.ts';
import { inMemory } from './database.ts';
import type { EventQuery, NewEvent } from './event.ts';
import type { FarmTime } from './farm-times.ts';
import { type Entry, type Findings, HistoryStore } from './store.ts';

/** A request to the thread of the history. */
export type HistoryRequest =
  | { readonly do: 'write'; readonly entries: readonly Entry[] }
  | { readonly do: 'prune'; readonly beforeMs: number }
  | { readonly do: 'find'; readonly query: EventQuery; readonly lost: number | undefined }
  | { readonly do: 'farms' }
  | { readonly do: 'times'; readonly appliance: string; readonly farm: string }
  | { readonly do: 'close' };

export interface HistoryResponse {
  readonly changes?: readonly NewEvent[];
  /** The JSON of FoundEvents. */
  readonly found?: string;
  readonly farms?: ReturnType<HistoryStore['changedFarms']>;
  readonly times?: readonly FarmTime[];
  /** Holds what a write found, and what other requests found since the write before it. */
  readonly findings?: Findings;
  readonly failure?: string;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB and SQLITE_FULL of sqlite3.h; the low byte is the kind of error. */
const damages: readonly number[] = [11, 26];
const full = 13;

/** Returns the remedy for a file that is damaged as a whole, or a full disk, for the end of a sentence. */
function remedyOf(thrown: unknown): string {
  const code = isRecord(thrown) ? Number(thrown.errcode) % 256 : undefined;
  if (code === full || ['ENOSPC', 'EDQUOT'].includes(errorCode(thrown)))
    return '; make room, the next reading tries again';
  const isDamage = code !== undefined && damages.includes(code);
  return isDamage ? '; move it away with its -wal, and restart the exporter to begin another one' : '';
}

/** Handles the requests to the thread of the history; opens its file at the first one. */
export class HistoryRequestHandler {
  readonly #file: string | undefined;
  #store: HistoryStore | undefined;

  constructor(file: string | undefined) {
    this.#file = file;
  }

  async handle(request: HistoryRequest): Promise<HistoryResponse> {
    try {
      if (request.do !== 'close') return responseOf(await this.#open(), request);
      this.#store?.close();
      return {};
    } catch (thrown) {
      const { message } = toError(thrown);
      const isNamed = this.#file === undefined || message.includes(this.#file);
      return { failure: `${isNamed ? message : `${this.#file}: ${message}`}${remedyOf(thrown)}` };
    }
  }

  async #open(): Promise<HistoryStore> {
    if (this.#store) return this.#store;
    const file = this.#file;
    if (file !== undefined) {
      await makeFolder(dirname(file));
      // Creates it for its own user alone, so that its write-ahead log is too.
      await (await openRegularFile(file, constants.O_RDWR | constants.O_CREAT)).close();
    }
    this.#store = new HistoryStore(file ?? inMemory);
    return this.#store;
  }
}

function responseOf(store: HistoryStore, request: Exclude<HistoryRequest, { do: 'close' }>): HistoryResponse {
  switch (request.do) {
    case 'write': {
      const changes = store.write(request.entries);
      return { changes, findings: store.takeFindings() };
    }
    case 'prune':
      store.prune(request.beforeMs);
      return {};
    case 'find':
      return { found: JSON.stringify({ ...store.find(request.query), lost: request.lost }) };
    case 'farms':
      return { farms: store.changedFarms() };
    case 'times':
      return { times: store.timesOf(request.appliance, request.farm) };
  }
}
