import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { DryRun } from '../../admin/calls/dry-run.ts';
import { type PlannedStep, type ChangeState, type ShownChange, ShownChangeSchema } from '../../admin/changes/change.ts';
import { objectionLines } from '../../admin/changes/plan-lines.ts';
import { parseReply } from './gateway-client.ts';
import { recordsOf, renderJson } from './render.ts';
import { jsonText, pairLines, tableLines } from '../table.ts';

/** Checks the gateway's response about a change; throws an {@link AdminError}. */
export function readChange(change: unknown): ShownChange {
  return parseReply(ShownChangeSchema, change, 'The gateway answered with something other than a change');
}

const meanings: Readonly<Record<ChangeState, string>> = {
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

/** Returns the state of a change: the first line of everything that is printed about it. */
export function stateLine({ id, state }: Pick<ShownChange, 'id' | 'state'>): string {
  return oneLine(`${id} ${meanings[state]}`, 200);
}

/** Renders a change for the person who decides on it: all of its plan, with each exact call. */
export function changeLines(change: ShownChange): readonly string[] {
  const { plan, digest } = change;
  return [
    stateLine(change),
    '',
    ...pairLines(originPairs(change)),
    ...(plan.facts.length === 0 ? [] : ['', ...plan.facts.map((fact) => oneLine(fact, 1_000))]),
    '',
    ...tableLines(
      ['step', 'operation', 'risk', 'plan'],
      plan.steps.map(({ title, call }, index) => [index + 1, call?.operation ?? '-', call?.risk ?? '-', title]),
    ),
    ...plan.steps.flatMap(stepLines),
    '',
    ...pairLines([['digest of the plan', digest]]),
    ...outcomeLines(change),
  ];
}

type Pairs = readonly (readonly [name: string, value: unknown])[];

function originPairs(change: ShownChange): Pairs {
  const { title, appliance, force, requested_by: by, reason, created, expires, decision } = change;
  const [alert] = change.alerts;
  return [
    ['change', `${title} on ${appliance}`],
    ...(force ? [['force', 'overrides the guards'] as const] : []),
    ...(change.break_glass ? [['break glass', 'needs no approval'] as const] : []),
    ['asked by', by],
    ['reason', reason],
    ...(alert ? [['alert', `${alert.name} since ${alert.since}: ${alert.summary ?? '-'}`] as const] : []),
    ['asked at', created],
    decision
      ? [decision.what, `by ${decision.by} at ${decision.at}: ${decision.reason ?? '-'}`]
      : ['waits until', expires],
  ];
}

/** Renders a step of a plan with its exact call, and the object as it is. */
export function stepLines(step: PlannedStep, index: number): readonly string[] {
  const { title, call, current, way_back: back = [], ...objections } = step;
  if (!call && back.length === 0) return [];
  return [
    '',
    oneLine(`${index + 1}. ${title}`, 500),
    ...(call ? callLines(call) : []),
    ...objectionLines(objections),
    ...(current ? presentLines(current).map((line) => `  ${line}`) : []),
    ...(back.length === 0 ? [] : ['  What a failure leaves is taken back with some of these:']),
    ...back.flatMap(callLines).map((line) => `  ${line}`),
  ];
}

/** Returns what became of a change; nothing if it is not carried out yet. */
export function outcomeLines({ outcome }: Pick<ShownChange, 'outcome'>): readonly string[] {
  if (!outcome) return [];
  return ['', `Outcome at ${oneLine(outcome.at, 64)}`, ...outcome.lines.map((line) => `  ${oneLine(line, 2_000)}`)];
}

/**
 * Renders a change as {@link changeLines} does. If nobody has decided on it, the commands for that
 * follow.
 */
export function linesWithNextCommands(change: ShownChange): readonly string[] {
  const name = oneLine(change.id, 64);
  if (change.decision) return changeLines(change);
  return [
    ...changeLines(change),
    '',
    'A second person looks at it, and decides:',
    `  zlb-exporter admin changes show ${name}`,
    `  zlb-exporter admin changes approve ${name} --watch`,
    `  zlb-exporter admin changes deny ${name} --reason=TEXT`,
  ];
}

export function listLines(response: unknown): readonly string[] {
  const changes = recordsOf(response, 'changes');
  const notProposed = recordsOf(response, 'not_proposed').flatMap(({ title, appliance, because }) => [
    '',
    oneLine(`Not proposed: ${String(title)} on ${String(appliance)}. ${String(because)}`, 1_000),
  ]);
  if (changes.length === 0) return ['No changes match; --state=all also shows those that have ended.', ...notProposed];
  const table = tableLines(
    ['id', 'state', 'appliance', 'change', 'asked by', 'asked at', 'waits until', 'reason'],
    changes.map(({ id, state, appliance, title, requested_by: by, created, expires, reason, alerts, decision }) => [
      id,
      state,
      appliance,
      title,
      by,
      created,
      decision === null ? expires : '-',
      reason ?? (Array.isArray(alerts) && isRecord(alerts[0]) ? `alert ${String(alerts[0].name)}` : reason),
    ]),
  );
  return [...table, ...notProposed];
}

/**
 * Returns true if the gateway would refuse the call, or the appliance according to its own
 * description of the parameters.
 */
export function wouldFail({ would, validation }: Pick<DryRun, 'would' | 'validation'>): boolean {
  return would === 'be refused' || validation.problems.length > 0;
}

/**
 * Renders a dry run for people: the request, the objections, and the present state of the object.
 */
export function dryRunLines({ operation, risk, request, current, ...outcome }: DryRun): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): ${outcomeText(outcome)}.`, 300),
    ...objectionLines(outcome, outcome.validation),
    '',
    'Request',
    ...callLines(request),
    ...(current ? ['', ...presentLines(current)] : []),
  ];
}

export function refusalLines(dryRun: DryRun): readonly string[] {
  return [
    oneLine(`zlb-exporter: ${dryRun.operation} was not sent: ${outcomeText(dryRun)}.`, 300),
    ...objectionLines(dryRun, dryRun.validation),
    '--force --reason=TEXT overrides guards and what the appliance says of its parameters, and nothing else.',
  ];
}

const maxBodyLength = 4_000;

/** Returns a call as it would be sent; says how much of a long body it does not show. */
function callLines({ method, url, body }: Omit<DryRun['request'], 'headers'>): readonly string[] {
  const shown = body ?? '';
  const text = typeof shown === 'string' ? shown : jsonText(shown);
  const more = text.length - maxBodyLength;
  return [
    oneLine(`${method} ${url}`, 2_000),
    ...(text === '' ? [] : [oneLine(text, maxBodyLength)]),
    ...(more > 0 ? [`… and ${more} more characters; --json shows all`] : []),
  ].map((line) => `  ${line}`);
}

/**
 * Returns the warnings of guards that do not block this call, also of guards that block calls with
 * other tokens.
 */
export function warningLines({ findings, warned = [] }: Pick<DryRun, 'findings' | 'warned'>): readonly string[] {
  return objectionLines({
    because: [],
    findings: findings.filter(({ severity, guard }) => severity !== 'blocking' || warned.includes(guard)),
  });
}

function outcomeText({ would, validation }: Pick<DryRun, 'would' | 'validation'>): string {
  if (would !== 'be refused' && validation.problems.length > 0)
    return 'the gateway would send it, and the appliance would refuse it';
  return `it would ${would}`;
}

const maxLines = 40;

export function presentLines({ operation, body }: NonNullable<DryRun['current']>): readonly string[] {
  const source = oneLine(operation, 64);
  const lines = renderJson(body);
  return [
    `Now (${source})`,
    ...lines.slice(0, maxLines).map((line) => `  ${line}`.trimEnd()),
    ...(lines.length > maxLines ? [`  … and ${lines.length - maxLines} more lines; ${source} shows all`] : []),
  ];
}
