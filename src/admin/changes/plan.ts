import { createHash, createHmac } from 'node:crypto';
import { endpoints } from '../../appliance/api/table.ts';
import { parseRoute } from '../../appliance/route.ts';
import { assert, isRecord, parseJson, toError } from '../../lib/check.ts';
import { probeL4Before } from '../calls/l4-probe.ts';
import { maskBody } from '../calls/mask.ts';
import type { DryRun } from '../calls/dry-run.ts';
import type { ReadSnapshot } from '../calls/admin-call.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { ReadCache } from '../policy/guards/guard.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { steadyNow } from '../../lib/time.ts';
import { backupSteps } from '../recipes/backup.ts';
import type { RecipeCalls, Write } from '../recipes/calls.ts';
import { callStep, type RecipePlan, type Recipe, type RecipeContext, type Step } from '../recipes/recipe.ts';
import { createRecipeContext } from './change-calls.ts';
import type { ChangePlan, PlannedCall, PlannedStep, StoredChange } from './change.ts';
import type { ChangesContext } from './context.ts';
import type { ChangeInput, Task } from './task.ts';

/** A change with its plan, the steps that carry it out, and the replies that it was made from. */
export interface PlannedChange extends ChangeInput {
  readonly plan: ChangePlan;
  readonly digest: string;
  readonly steps: readonly Step[];
  readonly reads: ReadSnapshot;
}

export function titleOf(task: Task): string {
  const values = Object.entries(task.params).map(([name, value]) => `${name}=${value}`);
  return ['recipe' in task ? task.recipe.name : task.operationId, ...values].join(' ');
}

/** Plans with the rights of the caller: nobody learns more than its token may read. */
export async function planChange(context: ChangesContext, input: ChangeInput, caller: Caller): Promise<PlannedChange> {
  const cache: ReadCache = new Map();
  const writeCount = context.gateway.writeCountOf(input.appliance);
  try {
    const made = await makePlan(input, createRecipeContext(context, { input, caller, cache }));
    return { ...input, ...made, reads: { cache, writeCount, atSteadyMs: steadyNow() } };
  } catch (error) {
    throw asPlanError(error);
  }
}

/**
 * Makes a plan: reads, and makes a dry run of each call. Rejects with an {@link AdminError} when it
 * cannot be done.
 */
export async function makePlan(
  { task, force, digestKey, backupFirst = false }: Pick<ChangeInput, 'task' | 'force' | 'digestKey' | 'backupFirst'>,
  context: RecipeContext & { readonly calls: RecipeCalls },
): Promise<Pick<PlannedChange, 'plan' | 'digest' | 'steps'>> {
  const { calls } = context;
  const title = titleOf(task);
  const made = 'recipe' in task ? await task.recipe.plan(context) : callPlan(task, title);
  const all = backupFirst ? [...(await backupSteps(context)), ...made.steps] : made.steps;
  const steps = all.map((step) => withL4Check(step, context));
  const planned: PlannedStep[] = [];
  const { facts, targets } = made;
  let length = JSON.stringify([facts, targets]).length;
  const digest = createHash('sha256').update(JSON.stringify([title, calls.appliance, force]));
  for (const [index, { title: purpose, write, rollback }] of steps.entries()) {
    const dryRun = write && (await calls.dryRun(write));
    // The steps for one object share their rollback.
    const rollbackWrites = rollback === steps[index - 1]?.rollback ? undefined : rollback?.writes;
    const step = {
      title: purpose,
      ...(dryRun ? toPlannedStep(dryRun) : withoutCall),
      ...(rollbackWrites && { way_back: rollbackWrites.map((each) => toPlannedCall(each, calls)) }),
    };
    length += JSON.stringify(step).length;
    assertPlanLength(length);
    planned.push(step);
    if (dryRun) digest.update(JSON.stringify(digestInput(dryRun, write, digestKey)));
    if (rollbackWrites) digest.update(JSON.stringify(step.way_back));
  }
  const plan = { facts, steps: planned, ...(targets && { targets }) };
  return { plan, digest: digest.digest('hex'), steps };
}

const withoutCall: Omit<PlannedStep, 'title'> = { call: null, findings: [], because: [], current: null };

function callPlan(write: Write, title: string): RecipePlan {
  return { facts: [], steps: [callStep({ title, write, done: `${write.operationId} was carried out.` })] };
}

/** Returns a step that fails if its write has cut L4 farms (calls/l4-probe.ts). */
function withL4Check(step: Step, context: RecipeContext): Step {
  const { write } = step;
  if (!write) return step;
  const body = parseJson(write.content?.bytes ?? Buffer.of());
  const call = { ...write, fields: isRecord(body) ? body : {} };
  return {
    ...step,
    async run(send, calls) {
      const baseline = await probeL4Before(call, { ...context, appliance: context.calls.appliance });
      const outcome = await step.run(send, calls).then(
        (done) => ({ done, result: done }),
        (error: unknown) => ({ error, result: toError(error).message }),
      );
      const comparison = (await baseline?.verify(outcome.result)) ?? '';
      if ('error' in outcome) throw outcome.error;
      return comparison === '' ? outcome.done : `${outcome.done} ${comparison}`;
    },
  };
}

function toPlannedStep({ operation, risk, request, would, ...found }: DryRun): Omit<PlannedStep, 'title'> {
  const { method, url, body = null } = request;
  const { findings, because, current } = found;
  return { call: { operation, risk, method, url, body }, would, findings, because, current: limitedObject(current) };
}

function toPlannedCall(write: Write, calls: Pick<RecipeCalls, 'urlOf'>): PlannedCall {
  const { risk, route } = endpoints[write.operationId];
  const { method } = parseRoute(route);
  const body = write.content ? maskBody(write.content.bytes, write.content.type) : null;
  return { operation: write.operationId, risk, method, url: calls.urlOf(write), body };
}

/** Open changes are kept in memory, and appliances choose how long their objects are. */
const maxObjectLength = 65_536;
const maxPlanLength = 262_144;

function limitedObject(current: DryRun['current']): DryRun['current'] {
  if (!current || JSON.stringify(current.body).length <= maxObjectLength) return current;
  return { ...current, body: `Left out: it is longer than ${maxObjectLength} characters.` };
}

/** Checked at each step: the appliance decides how many there are, and each asks it again. */
function assertPlanLength(length: number): void {
  if (length <= maxPlanLength) return;
  throw new AdminProblem('recipe_refused', {
    detail: `The plan is too long: it has more than ${maxPlanLength} characters. Nothing was sent.`,
    remedy:
      'Look for unusually long names and texts on the appliance. A certificate of very many farms goes to one after the other with zlb-exporter deliver.',
  });
}

/**
 * Returns what must be the same when the plan is made again: the exact call, what the guards find,
 * and the object. Their messages are left out, since they count connections.
 */
function digestInput(
  { request: { method, url }, findings, current }: DryRun,
  { content }: Write,
  digestKey: string,
): unknown {
  return [
    method,
    url,
    content && [content.type, createHmac('sha256', digestKey).update(content.bytes).digest('hex')],
    findings.map(({ guard, severity }) => [guard, severity]),
    JSON.stringify(current, numberAsText),
  ];
}

/** Makes a reply that a guard has read, with its numbers, equal to one as the appliance wrote it. */
function numberAsText(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

/** Converts an AdminError of a recipe into a refusal of the gateway; returns other errors unchanged. */
function asPlanError(error: unknown): unknown {
  if (!(error instanceof AdminError)) return error;
  const { title, message, remedy } = error;
  const detail = /nothing was/i.test(message) ? message : `${message} Nothing was sent.`;
  if (error instanceof AdminProblem) {
    const { code, status, headers, members } = error;
    return new AdminProblem(code, { detail, remedy, status, headers, members, cause: error });
  }
  return new AdminProblem('recipe_refused', { detail: `${title}. ${detail}`, remedy });
}

/**
 * Plans a stored change again, in the name of its approver. Its digest is that of the first plan if
 * nothing has changed: it has the same time, and the key that the change was stored with.
 */
export async function planAgain(
  context: ChangesContext,
  { change, sealed }: StoredChange,
  approver: Caller,
): Promise<PlannedChange> {
  assert(sealed, 'a change that waits has its sealed parts');
  const input = {
    id: change.id,
    appliance: change.appliance,
    task: taskOf(context.recipes(), { change, sealed }),
    force: change.force,
    reason: change.reason ?? undefined,
    backupFirst: change.backup_first,
    waitSeconds: change.wait_seconds,
    askedAtMs: Date.parse(sealed.asked_at ?? change.created),
    digestKey: sealed.salt,
  };
  return await planChange(context, input, approver);
}

function taskOf(recipes: readonly Recipe[], { change, sealed }: StoredChange): Task {
  const { operation: operationId, recipe: name, parameters: params } = change;
  const recipe = recipes.find((each) => each.name === name);
  if (recipe) return { recipe, params };
  if (operationId === undefined)
    throw new AdminProblem('recipe_refused', { detail: `There is no recipe ${name} any more. Nothing was sent.` });
  const content = sealed?.content;
  if (!content) return { operationId, params };
  return { operationId, params, content: { type: content.type, bytes: Buffer.from(content.base64, 'base64') } };
}
