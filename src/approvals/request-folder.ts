import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { endpoints } from '../appliance/api/table.ts';
import { createDecoder, type Decode } from '../appliance/decode.ts';
import { errorCode, isOneOf } from '../lib/check.ts';
import { ifMissing, makeFolder, readShort, syncFolder, writeSynced } from '../lib/disk.ts';
import { ChangeRequestSchema, isOver, SealedPartsSchema } from './change-request.ts';

const StoredSchema = Type.Object({
  request: ChangeRequestSchema,
  /** Null once the request is over. */
  sealed: Type.Union([SealedPartsSchema, Type.Null()]),
});
/** A request as it is on disk. */
export type StoredRequest = Readonly<Static<typeof StoredSchema>>;

/** One file for each change request, which only the exporter's user can read. */
export type RequestFolder = ReturnType<typeof createRequestFolder>;

/** Without a folder, or with one that cannot be there, there are no requests. */
function ifThereIsNone(error: unknown): readonly string[] {
  if (!isOneOf(['ENOENT', 'ENOTDIR'], errorCode(error))) throw error;
  return [];
}

const idPattern = /^cr-[a-z2-7]{10}$/;
/** More than a plan and the largest body. */
const maxFileBytes = 4_194_304;
const draftEnding = '.json.new';

export function createRequestFolder(folder: string) {
  const decode = createDecoder();
  const fileOf = (id: string): string => join(folder, `${id}.json`);

  /** Resolves to undefined for a missing file; rejects for one that is no request. */
  async function load(id: string): Promise<StoredRequest | undefined> {
    const text = await readShort(fileOf(id), maxFileBytes).catch(ifMissing);
    return text === undefined ? undefined : parseStored(text, id, decode);
  }

  return {
    load,
    /** Writes the next content beside the file: a full disk is found before anything happens. */
    async draft(stored: StoredRequest) {
      await makeFolder(folder);
      const file = fileOf(stored.request.id);
      const draft = `${file}.new`;
      const discard = (): Promise<void> => rm(draft, { force: true });
      try {
        await writeSynced(draft, JSON.stringify(stored));
      } catch (error) {
        await discard().catch(() => undefined);
        throw error;
      }
      return {
        discard,
        /** Resolves when it is the file, also after a loss of power. */
        async keep(): Promise<void> {
          await rename(draft, file);
          await syncFolder(file);
        },
      };
    },
    /**
     * Resolves to all requests, and to the names of files that are none. Removes drafts that a
     * crash left behind: they may have passwords.
     */
    async loadAll() {
      const names = await readdir(folder).catch(ifThereIsNone);
      const stored: StoredRequest[] = [];
      const unreadable: string[] = [];
      for (const id of names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))) {
        const found = idPattern.test(id) ? await load(id).catch(() => undefined) : undefined;
        if (found) stored.push(found);
        else unreadable.push(`${id}.json`);
      }
      for (const name of names.filter((each) => each.endsWith(draftEnding)))
        await rm(join(folder, name), { force: true }).catch(() => unreadable.push(name));
      return { stored, unreadable };
    },
    remove: (id: string): Promise<void> => rm(fileOf(id), { force: true }),
  };
}

/** Returns the request in the text of its file. Throws for anything else. */
function parseStored(text: string, id: string, decode: Decode): StoredRequest {
  const stored = JSON.parse(text) as StoredRequest;
  const checked = decode(StoredSchema, stored);
  if (!checked.ok) throw new Error(`${id}: ${checked.because}`);
  const { request, sealed } = stored;
  if (request.id !== id) throw new Error(`${id}: it is ${request.id}`);
  if (request.operation !== undefined && !Object.hasOwn(endpoints, request.operation))
    throw new Error(`${id}: there is no operation ${request.operation}`);
  // Without these parts, nobody could tell who may not approve it.
  if (isOver(request.state) !== (sealed === null)) throw new Error(`${id}: it is not sealed`);
  return stored;
}
