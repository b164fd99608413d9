import { type Static, type TSchema, Type } from 'typebox';
import type { EndpointKey } from '../../appliance/api/table.ts';
import { DryRunSchema } from '../calls/dry-run.ts';
import { AdminProblem } from '../policy/problem.ts';
import { TargetSchema } from '../recipes/recipe.ts';

/**
 * A change begins as `proposed` (by an alert), `pending` (by a person or the policy), or, if it
 * needs nobody else, `approved`. The states after that:
 *
 * - `approved`: on disk; nothing was sent yet
 * - `executing`: its calls are under way
 * - `done`, `failed`: what happened is known
 * - `uncertain`: a call was sent, and its outcome is not known
 * - `denied`, `cancelled`, `expired`, `withdrawn`: nothing was sent
 */
export const changeStates = [
  'proposed',
  'pending',
  'approved',
  'executing',
  'done',
  'failed',
  'uncertain',
  'denied',
  'cancelled',
  'expired',
  'withdrawn',
] as const;
export type ChangeState = (typeof changeStates)[number];

/** The states that may follow each state; those without any are final. */
const nextStates: Readonly<Record<ChangeState, readonly ChangeState[]>> = {
  proposed: ['approved', 'denied', 'cancelled', 'expired', 'withdrawn'],
  pending: ['approved', 'denied', 'cancelled', 'expired'],
  // Uncertain if the exporter was started with a copy of the journal.
  approved: ['executing', 'failed', 'uncertain'],
  executing: ['done', 'failed', 'uncertain'],
  done: [],
  failed: [],
  uncertain: [],
  denied: [],
  cancelled: [],
  expired: [],
  withdrawn: [],
};

export const openStates = changeStates.filter((state) => nextStates[state].length > 0);

export function isOver(state: ChangeState): boolean {
  return nextStates[state].length === 0;
}

/** Returns changes in the order of their age; the later ones of a list are the newer of one moment. */
export function newestFirst(changes: readonly Change[]): readonly Change[] {
  return changes.toReversed().toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created));
}

/** Returns true while a person can still decide on it. */
export function isWaiting(state: ChangeState): boolean {
  return nextStates[state].includes('approved');
}

const text = Type.String();
const time = Type.String({
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`,
});
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const PlannedCallSchema = Type.Object({
  operation: text,
  risk: text,
  method: text,
  url: text,
  body: Type.Unknown({ description: 'With secrets masked.' }),
});
export type PlannedCall = Readonly<Static<typeof PlannedCallSchema>>;

const { would, findings, because, current } = DryRunSchema.properties;
const PlannedStepSchema = Type.Object({
  title: text,
  /** Null for a step that only reads or waits. */
  call: orNull(PlannedCallSchema),
  /** Absent without a call. */
  would: Type.Optional(would),
  findings,
  because,
  current,
  way_back: Type.Optional(
    Type.Immutable(
      Type.Array(PlannedCallSchema, {
        description: 'What may be called, after a failure, to take this and the next steps back.',
      }),
    ),
  ),
});
export type PlannedStep = Readonly<Static<typeof PlannedStepSchema>>;

/** The calls that would be made, without secrets. */
const ChangePlanSchema = Type.Object({
  facts: Type.Immutable(Type.Array(Type.String({ description: 'A sentence about the present state.' }))),
  steps: Type.Immutable(Type.Array(PlannedStepSchema)),
  targets: Type.Optional(
    Type.Immutable(Type.Array(TargetSchema, { description: 'Of a delivery: what it means for each farm.' })),
  ),
});
export type ChangePlan = Readonly<Static<typeof ChangePlanSchema>>;

export const AlertSourceSchema = Type.Object({
  name: text,
  summary: orNull(text),
  since: text,
  fingerprint: Type.Optional(Type.String({ description: 'A digest of its labels, which tell it from others.' })),
});
export type AlertSource = Readonly<Static<typeof AlertSourceSchema>>;

const DecisionSchema = Type.Object({
  by: Type.String({ description: 'The name of a token, or `-` for the exporter itself.' }),
  what: Type.Enum(['started', 'approved', 'denied', 'cancelled', 'withdrawn', 'expired'], {
    description: '`started`: it ran at once, and needed nobody else.',
  }),
  reason: orNull(text),
  at: time,
});
export type Decision = Readonly<Static<typeof DecisionSchema>>;

const OutcomeSchema = Type.Object({
  at: time,
  lines: Type.Immutable(
    Type.Array(Type.String({ description: 'A sentence for each step; after a failure also what to do.' })),
  ),
  code: Type.Union([text, Type.Null()], { description: "That of the gateway's refusal, if it ended the change." }),
  sent: Type.Optional(Type.Boolean({ description: 'False if no call left for the appliance.' })),
});
export type Outcome = Readonly<Static<typeof OutcomeSchema>>;

/** A change without its sealed parts: what people may see. */
export const ChangeSchema = Type.Object({
  id: text,
  state: Type.Enum([...changeStates]),
  appliance: text,
  title: Type.String({ description: 'The operation or recipe with its parameters.' }),
  operation: Type.Optional(Type.Unsafe<EndpointKey>(text)),
  recipe: Type.Optional(text),
  parameters: Type.Record(text, text),
  force: Type.Boolean(),
  break_glass: Type.Optional(Type.Boolean({ description: 'Sent without the approval that it needs.' })),
  backup_first: Type.Optional(Type.Boolean()),
  wait_seconds: Type.Optional(Type.Integer({ description: 'The longest wait of a step for its effect.' })),
  requested_by: Type.String({ description: 'The name of a token.' }),
  reason: orNull(text),
  alerts: Type.Immutable(Type.Array(AlertSourceSchema, { description: 'The alerts that ask for it.' })),
  created: time,
  expires: time,
  digest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of the plan, in lower-case hex; an approval must name it.',
  }),
  plan: ChangePlanSchema,
  decision: orNull(DecisionSchema),
  outcome: orNull(OutcomeSchema),
});
export type Change = Readonly<Static<typeof ChangeSchema>>;

export const decisionWords = ['approve', 'deny', 'cancel'] as const;
export type DecisionWord = (typeof decisionWords)[number];

/** A change as a caller is shown it. Its last two members are not stored. */
export const ShownChangeSchema = Type.Object(
  {
    ...ChangeSchema.properties,
    may: Type.Immutable(
      Type.Array(Type.Enum([...decisionWords]), {
        description: 'The decisions that the token may make now. An approval is checked again when it is made.',
      }),
    ),
    cannot_approve: Type.Union([text, Type.Null()], { description: 'Why the token may not approve it now.' }),
  },
  { description: 'A change that waits for another person, or what became of it.' },
);
export type ShownChange = Readonly<Static<typeof ShownChangeSchema>>;

/** The plan of a change that is not submitted yet. */
export const ChangeDryRunSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    appliance: text,
    title: text,
    asked_at: time,
    digest: Type.String({ description: 'With `asked_at`, it lets `run: now` run this plan and no other.' }),
    would: DryRunSchema.properties.would,
    plan: ChangePlanSchema,
    lines: Type.Immutable(Type.Array(Type.String({ description: 'A line of the plan as people read it.' }))),
  },
  { description: 'What `POST /changes?dry_run=true` answers: all calls of a change, and what speaks against them.' },
);
export type ChangeDryRun = Readonly<Static<typeof ChangeDryRunSchema>>;

const number = Type.Integer({ minimum: 1, description: 'The number of the step.' });
const line = Type.String({ description: 'A line for people.' });

/** A line of the response to a change that runs now. */
export const ChangeEventSchema = Type.Union(
  [
    Type.Object({ event: Type.Literal('started'), change: ShownChangeSchema }),
    Type.Object({ event: Type.Literal('begin'), step: number, title: text }),
    Type.Object({ event: Type.Literal('wait'), step: number, line }),
    Type.Object({ event: Type.Literal('end'), step: number, ok: Type.Boolean(), line }),
    Type.Object({ event: Type.Literal('over'), change: ShownChangeSchema }),
  ],
  {
    description:
      'A line of the answer to `run: now`, in JSON: the change, what its steps do, and at last the change as it ended. Empty lines show that the gateway is there.',
  },
);
export type ChangeEvent = Readonly<Static<typeof ChangeEventSchema>>;
export type StepEvent = Extract<ChangeEvent, { readonly event: 'begin' | 'wait' | 'end' }>;

/** The parts of an open change that nobody is shown, and that are deleted when it is over. */
const SealedPartsSchema = Type.Object({
  /** The person who submitted it. */
  person: text,
  /** The `digestKey` that its plan was made with. */
  salt: text,
  /** The `askedAtMs` that its plan was made with; that of an older journal is `created`. */
  asked_at: Type.Optional(time),
  content: Type.Optional(Type.Object({ type: text, base64: text })),
});

/** A change as it is on disk. */
export const StoredChangeSchema = Type.Object({
  change: ChangeSchema,
  /** Null once the change is over. */
  sealed: Type.Union([SealedPartsSchema, Type.Null()]),
});
export type StoredChange = Readonly<Static<typeof StoredChangeSchema>>;

export interface Ending extends Required<Omit<Outcome, 'at'>> {
  readonly state: Extract<ChangeState, 'done' | 'failed' | 'uncertain'>;
}

/** The next state of a change, with what belongs to it. */
export type Transition =
  | {
      readonly state: Extract<ChangeState, 'approved' | 'denied' | 'cancelled' | 'expired' | 'withdrawn'>;
      readonly decision: Omit<Decision, 'at'>;
    }
  | { readonly state: 'executing' }
  | Ending;

/**
 * Returns a change in its next state: nothing else moves one. Throws an {@link AdminProblem} if the
 * state may not follow.
 */
export function transition({ change, sealed }: StoredChange, next: Transition, at: string): StoredChange {
  if (!nextStates[change.state].includes(next.state)) throw alreadyOver(change);
  const moved: Change = {
    ...change,
    state: next.state,
    ...('decision' in next && { decision: { ...next.decision, at } }),
    ...('lines' in next && { outcome: { at, lines: next.lines, code: next.code, sent: next.sent } }),
  };
  return isOver(next.state) ? { change: withoutObjects(moved), sealed: null } : { change: moved, sealed };
}

/** Leaves out the objects of the plan: they are large, and change. */
function withoutObjects(change: Change): Change {
  const { plan } = change;
  return { ...change, plan: { ...plan, steps: plan.steps.map((step) => ({ ...step, current: null })) } };
}

/** Returns the refusal of a decision on a change that does not wait for one. */
export function alreadyOver({ id, state }: Change): AdminProblem {
  return new AdminProblem('change_over', {
    detail: `${id} does not wait for a decision: it is ${state}. Nothing was sent.`,
    remedyValue: id,
  });
}
