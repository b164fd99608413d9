import { type Static, Type } from 'typebox';
import { endpoints } from '../appliance/api/table.ts';
import type { Decode } from '../appliance/decode.ts';
import { ChangeRequestSchema, isOver, SealedPartsSchema } from './change-request.ts';

const StoredSchema = Type.Object({
  request: ChangeRequestSchema,
  /** Null once the request is over. */
  sealed: Type.Union([SealedPartsSchema, Type.Null()]),
});
/** A request as it is on disk. */
export type StoredRequest = Readonly<Static<typeof StoredSchema>>;

/** Returns the request in the text of its file. Throws for anything else. */
export function parseStored(text: string, id: string, decode: Decode): StoredRequest {
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
