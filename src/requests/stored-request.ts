import { type Static, type TSchema, Type } from 'typebox';
import type { Decode } from '../appliance/decode.ts';
import { endpoints } from '../appliance/api/table.ts';
import { type ChangeRequest, isOver, requestStates, type SealedParts } from './change-request.ts';

/** A request as it is on disk. */
export interface StoredRequest {
  readonly request: ChangeRequest;
  /** Null once the request is over. */
  readonly sealed: SealedParts | null;
}

const Text = Type.String();
const Texts = Type.Array(Text);
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const StepSchema = Type.Object({
  title: Text,
  call: orNull(Type.Object({ operation: Text, risk: Text, method: Text, url: Text, body: Type.Unknown() })),
  findings: Type.Array(Type.Object({ guard: Text, severity: Text, message: Text, remedy: Text })),
  because: Texts,
  current: orNull(Type.Object({ operation: Text, body: Type.Unknown() })),
});

const RequestSchema = Type.Object({
  id: Text,
  state: Type.Enum([...requestStates]),
  appliance: Text,
  title: Text,
  operation: Type.Optional(Type.Enum(Object.keys(endpoints))),
  recipe: Type.Optional(Text),
  parameters: Type.Record(Text, Text),
  force: Type.Boolean(),
  requested_by: Text,
  reason: orNull(Text),
  alert: orNull(Type.Object({ name: Text, summary: orNull(Text), since: Text })),
  created: Time,
  expires: Time,
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  plan: Type.Object({ facts: Texts, steps: Type.Array(StepSchema) }),
  decision: orNull(
    Type.Object({
      by: Text,
      what: Type.Enum(['approved', 'denied', 'cancelled', 'withdrawn', 'expired']),
      reason: orNull(Text),
      at: Time,
    }),
  ),
  outcome: orNull(Type.Object({ at: Time, lines: Texts, code: orNull(Text) })),
});

const StoredSchema = Type.Object({
  request: RequestSchema,
  sealed: orNull(
    Type.Object({
      person: Text,
      salt: Text,
      content: Type.Optional(Type.Object({ type: Text, base64: Text })),
    }),
  ),
});

/** Returns the request in the text of its file. Throws for anything else. */
export function parseStored(text: string, id: string, decode: Decode): StoredRequest {
  const stored = JSON.parse(text) as Static<typeof StoredSchema>;
  const checked = decode(StoredSchema, stored);
  if (!checked.ok) throw new Error(`${id}: ${checked.because}`);
  if (stored.request.id !== id) throw new Error(`${id}: it is ${stored.request.id}`);
  // Without these parts, nobody could tell who may not approve it.
  if (isOver(stored.request.state) !== (stored.sealed === null)) throw new Error(`${id}: it is not sealed`);
  return stored as StoredRequest;
}
