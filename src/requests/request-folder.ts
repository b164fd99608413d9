import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isOneOf } from '../lib/check.ts';
import { ifMissing, makeFolder, syncFolder } from '../lib/disk.ts';
import type { ChangeRequest, SealedParts } from './change-request.ts';

/** A request as it is on disk. */
export interface StoredRequest {
  readonly request: ChangeRequest;
  /** Null once the request is over. */
  readonly sealed: SealedParts | null;
}

/** One file for each change request, which only the exporter's user can read. */
export interface RequestFolder {
  /** Resolves when the request is on disk, also after a loss of power. */
  save(stored: StoredRequest): Promise<void>;
  /** Resolves to undefined for a missing file; rejects for one that cannot be read. */
  load(id: string): Promise<StoredRequest | undefined>;
  /** Resolves to all requests, and to the names of files that are none. */
  loadAll(): Promise<{ readonly stored: readonly StoredRequest[]; readonly unreadable: readonly string[] }>;
  remove(id: string): Promise<void>;
}

/** Without a folder, or with one that cannot be there, there are no requests. */
function ifThereIsNone(error: unknown): readonly string[] {
  if (!isOneOf(['ENOENT', 'ENOTDIR'], errorCode(error))) throw error;
  return [];
}

const idPattern = /^cr-[a-z2-7]{10}$/;

export function createRequestFolder(folder: string): RequestFolder {
  const fileOf = (id: string): string => join(folder, `${id}.json`);

  async function load(id: string): Promise<StoredRequest | undefined> {
    const text = await readFile(fileOf(id), 'utf8').catch(ifMissing);
    return text === undefined ? undefined : (JSON.parse(text) as StoredRequest);
  }

  return {
    load,
    async save(stored) {
      await makeFolder(folder);
      const file = fileOf(stored.request.id);
      const draft = `${file}.new`;
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(stored));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
      await syncFolder(file);
    },
    async loadAll() {
      const names = await readdir(folder).catch(ifThereIsNone);
      const stored: StoredRequest[] = [];
      const unreadable: string[] = [];
      for (const id of names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))) {
        const found = idPattern.test(id) ? await load(id).catch(() => undefined) : undefined;
        if (found?.request.id === id) stored.push(found);
        else unreadable.push(`${id}.json`);
      }
      return { stored, unreadable };
    },
    async remove(id) {
      await rm(fileOf(id), { force: true });
    },
  };
}
