import { type Static, Type } from 'typebox';

/**
 * `intent` is written before a call is sent, `outcome` after it; the others are single records. A
 * `change` is written when a change gets a new state; its calls have its id as their `request`.
 * `started` marks each start of the gateway.
 */
export const auditEvents = [
  'intent',
  'outcome',
  'denied',
  'dry_run',
  'discovery',
  'freeze',
  'unfreeze',
  'change',
  'started',
] as const;

const member = Type.Optional(Type.String());
const names = (description: string) => Type.Optional(Type.Immutable(Type.Array(Type.String({ description }))));

/** A record of the journal as a line of JSON, for its type and for the document of the gateway. */
export const AuditLineSchema = Type.Object({
  seq: Type.Integer(),
  hash: Type.String(),
  prev: Type.String({ description: 'The hash of the record before.' }),
  time: Type.String({ format: 'date-time' }),
  event: Type.Enum([...auditEvents]),
  request: Type.String({ description: 'The id of the request; intent and outcome share it.' }),
  principal: Type.String(),
  role: Type.String(),
  address: Type.Optional(Type.String({ description: 'From which the request came.' })),
  appliance: member,
  operation: member,
  method: Type.String(),
  path: Type.String(),
  reason: member,
  forced: names('A guard that X-Force overrides.'),
  warned: names('A guard that the token overrides, by its option guards: warn.'),
  break_glass: Type.Optional(Type.Literal(true, { description: 'Sent without the approval that it needs.' })),
  state: member,
  plan_sha256: Type.Optional(Type.String({ description: 'The digest of the plan of a change.' })),
  requested_by: Type.Optional(Type.String({ description: 'Who asked for what the principal approved.' })),
  body: Type.Optional(Type.Unknown({ description: 'With secrets masked.' })),
  body_sha256: Type.Optional(Type.String({ description: 'The digest of the exact bytes of the body.' })),
  status: Type.Optional(Type.Integer()),
  code: member,
  duration_ms: Type.Optional(Type.Number()),
  sent_bytes: Type.Optional(Type.Integer()),
  sent_sha256: member,
  received_bytes: Type.Optional(Type.Integer()),
  uncertain: Type.Optional(Type.Literal(true, { description: 'The appliance may have carried it out nevertheless.' })),
  suppressed: Type.Optional(
    Type.Integer({
      description:
        'Refusals of the principal that were too many in a minute to be written down each; the record has no request of its own.',
    }),
  ),
});

export type AuditLine = Readonly<Static<typeof AuditLineSchema>>;

/** A place in the chain of records; the hash is in lower-case hex. */
export type AuditPosition = Pick<AuditLine, 'seq' | 'hash'>;

/** A record of one event, without secrets: see mask.ts. The journal makes a line of it. */
export type AuditRecord = Omit<AuditLine, 'seq' | 'hash' | 'prev' | 'time'>;

/** The values of fields that only requests have, in records of the exporter itself. */
export const noRequest = { request: '-', principal: '-', role: '-', method: '-', path: '-' } as const;
