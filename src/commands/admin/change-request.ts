import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import {
  type PlannedStep,
  type RequestState,
  type ShownRequest,
  ShownRequestSchema,
} from '../../admin/changes/change-request.ts';
import { readReply } from '../../admin/recipes/calls.ts';
import { callLines, objectionLines, presentLines } from './preview.ts';
import { recordsOf } from './render.ts';
import { pairLines, tableLines } from '../table.ts';

/** Checks the gateway's answer about a change request; throws an {@link AdminError}. */
export function readChangeRequest(request: unknown): ShownRequest {
  return readReply(ShownRequestSchema, request, 'The gateway answered with something else than a change request');
}

/** The meaning of each state for the person who reads it. */
const meanings: Readonly<Record<RequestState, string>> = {
  proposed: 'is proposed by an alert and waits for approval. Nothing was sent.',
  pending: 'waits for approval. Nothing was sent.',
  approved: 'is approved, and about to be carried out.',
  executing: 'is being carried out.',
  done: 'is done.',
  failed: 'has failed.',
  uncertain: 'may have been carried out: look at the object before you repeat it.',
  denied: 'is denied. Nothing was sent.',
  cancelled: 'is cancelled. Nothing was sent.',
  expired: 'is expired. Nothing was sent.',
  withdrawn: 'is withdrawn, because its alert has ended. Nothing was sent.',
};

/** Says where a request stands; the first line of all that is printed about one. */
export function stateLine({ id, state }: Pick<ShownRequest, 'id' | 'state'>): string {
  return oneLine(`${id} ${meanings[state]}`, 200);
}

/** Renders a request for the person who decides on it: all of its plan, with each exact call. */
export function requestLines(request: ShownRequest): readonly string[] {
  const { plan, digest } = request;
  return [
    stateLine(request),
    '',
    ...pairLines(originOf(request)),
    ...(plan.facts.length === 0 ? [] : ['', ...plan.facts.map((fact) => oneLine(fact, 1_000))]),
    '',
    ...tableLines(
      ['step', 'operation', 'risk', 'plan'],
      plan.steps.map(({ title, call }, index) => [index + 1, call?.operation ?? '-', call?.risk ?? '-', title]),
    ),
    ...plan.steps.flatMap(stepLines),
    '',
    ...pairLines([['digest of the plan', digest]]),
    ...outcomeLines(request),
  ];
}

type Pairs = readonly (readonly [name: string, value: unknown])[];

function originOf(request: ShownRequest): Pairs {
  const { title, appliance, force, requested_by: by, reason, alert, created, expires, decision } = request;
  return [
    ['change', `${title} on ${appliance}`],
    ...(force ? [['force', 'overrides the guards'] as const] : []),
    ['asked by', by],
    ['reason', reason],
    ...(alert ? [['alert', `${alert.name} since ${alert.since}: ${alert.summary ?? '-'}`] as const] : []),
    ['asked at', created],
    decision
      ? [decision.what, `by ${decision.by} at ${decision.at}: ${decision.reason ?? '-'}`]
      : ['waits until', expires],
  ];
}

function stepLines({ title, call, current, ...objections }: PlannedStep, index: number): readonly string[] {
  if (!call) return [];
  return [
    '',
    oneLine(`${index + 1}. ${title}`, 500),
    ...callLines(call),
    ...objectionLines(objections),
    ...(current ? presentLines(current, call.body).map((line) => `  ${line}`) : []),
  ];
}

/** Returns what became of a request; nothing if it is not carried out yet. */
export function outcomeLines({ outcome }: Pick<ShownRequest, 'outcome'>): readonly string[] {
  if (!outcome) return [];
  return ['', `Outcome at ${oneLine(outcome.at, 64)}`, ...outcome.lines.map((line) => `  ${oneLine(line, 2_000)}`)];
}

/** Renders a request as {@link requestLines} does, with the commands that decide on it. */
export function undecidedLines(request: ShownRequest): readonly string[] {
  const name = oneLine(request.id, 64);
  if (request.decision) return requestLines(request);
  return [
    ...requestLines(request),
    '',
    'A second person looks at it, and decides:',
    `  zlb-exporter admin requests show ${name}`,
    `  zlb-exporter admin requests approve ${name} --watch`,
    `  zlb-exporter admin requests deny ${name} --reason=TEXT`,
  ];
}

/** Renders the gateway's list of requests. */
export function listLines(answer: unknown): readonly string[] {
  const requests = recordsOf(answer, 'requests');
  const notProposed = recordsOf(answer, 'not_proposed').flatMap(({ title, appliance, because }) => [
    '',
    oneLine(`Not proposed: ${String(title)} on ${String(appliance)}. ${String(because)}`, 1_000),
  ]);
  if (requests.length === 0) return ['No change requests fit.', ...notProposed];
  const table = tableLines(
    ['id', 'state', 'appliance', 'change', 'asked by', 'asked at', 'waits until', 'reason'],
    requests.map(({ id, state, appliance, title, requested_by: by, created, expires, reason, alert, decision }) => [
      id,
      state,
      appliance,
      title,
      by,
      created,
      decision === null ? expires : '-',
      reason ?? (isRecord(alert) ? `alert ${String(alert.name)}` : reason),
    ]),
  );
  return [...table, ...notProposed];
}
