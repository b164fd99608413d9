import { createHash, createHmac } from 'node:crypto';
import type { EndpointKey } from '../../appliance/api/table.ts';
import { AdminError } from '../policy/admin-error.ts';
import { frozenProblem } from '../policy/freeze.ts';
import type { Answers } from '../policy/guards/guard.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { RecentReads } from '../calls/request.ts';
import { steadyNow } from '../../lib/time.ts';
import type { DryRunPlan } from '../calls/dry-run.ts';
import type { Calls, Content, Write } from '../recipes/calls.ts';
import { callStep, type Plan, type Recipe, type RecipeContext, type Step } from '../recipes/recipe.ts';
import type { AlertSource, ChangePlan, PlannedStep } from './change.ts';
import { createInProcessCalls } from './in-process.ts';
import type { ChangesCore } from './core.ts';

/** One operation, or one recipe with its parameters. */
export type Task =
  | {
      readonly operation: EndpointKey;
      readonly parameters: Readonly<Record<string, string>>;
      readonly content?: Content;
    }
  | { readonly recipe: Recipe; readonly parameters: Readonly<Record<string, string>> };

/** A change, and why. */
export interface NewChange {
  readonly appliance: string;
  readonly task: Task;
  readonly reason: string | undefined;
  readonly force: boolean;
  /** The alerts whose repair it is, if any. */
  readonly alerts?: readonly AlertSource[];
}

/** A plan, with the steps that carry it out. */
export interface PreparedChange {
  readonly plan: ChangePlan;
  readonly digest: string;
  readonly steps: readonly Step[];
}

interface PreparingParts {
  readonly context: Omit<RecipeContext, 'calls' | 'values' | 'waitMs'> & { readonly calls: Calls };
  readonly force: boolean;
  readonly reason: string | undefined;
  /** Key of the digests of bodies. */
  readonly salt: string;
}

export function titleOf(task: Task): string {
  const values = Object.entries(task.parameters).map(([name, value]) => `${name}=${value}`);
  return ['recipe' in task ? task.recipe.name : task.operation, ...values].join(' ');
}

/** Returns a text that is the same for the same change, also with parameters in another order. */
export function keyOfTask(
  appliance: string,
  name: string | undefined,
  parameters: Readonly<Record<string, string>>,
): string {
  return JSON.stringify([appliance, name, Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

interface Preparing extends Omit<NewChange, 'alerts'> {
  readonly id: string;
  readonly salt: string;
  readonly askedAtMs: number;
}

/** Plans with the rights of the actor: nobody learns more than its token may read. */
export async function prepareAs(
  actor: Caller,
  core: ChangesCore,
  { id, appliance, task, askedAtMs, ...parts }: Preparing,
): Promise<PreparedChange & { readonly recent: RecentReads }> {
  const answers: Answers = new Map();
  const before = core.gateway.changesOf(appliance);
  const context = {
    calls: createInProcessCalls(core, appliance, { ...actor, id }, { answers }),
    now: core.now,
    steadyNow: core.steadyNow,
    askedAtMs,
    // While it is carried out, nobody who asked is there any more.
    sleep: (ms: number) => core.sleep(ms, core.stopping.signal),
    progress: () => undefined,
  };
  try {
    const prepared = await prepare(task, { context, ...parts });
    // Again: the appliance may have taken its time.
    if (core.freeze.state) throw frozenProblem(core.freeze.state);
    refuseRefused(prepared.plan);
    return { ...prepared, recent: { answers, changes: before, atMs: steadyNow() } };
  } catch (error) {
    throw toProblem(error);
  }
}

/**
 * Plans a change: reads, and makes a dry run of each call. Rejects with an {@link AdminError} when
 * it cannot be done.
 */
export async function prepare(task: Task, { context, force, reason, salt }: PreparingParts): Promise<PreparedChange> {
  const { facts, steps } = await stepsOf(task, context);
  const planned: PlannedStep[] = [];
  let length = JSON.stringify(facts).length;
  const digest = createHash('sha256').update(JSON.stringify([titleOf(task), context.calls.appliance, force]));
  for (const { title, write } of steps) {
    const dryRun = write && (await context.calls.dryRun(write, { force, reason }));
    const step = { title, ...(dryRun ? shownOf(dryRun) : nothing) };
    length += JSON.stringify(step).length;
    refuseLong(length);
    planned.push(step);
    if (dryRun) digest.update(JSON.stringify(digestedOf(dryRun, write, salt)));
  }
  return { plan: { facts, steps: planned }, digest: digest.digest('hex'), steps };
}

const nothing: Omit<PlannedStep, 'title'> = { call: null, findings: [], because: [], current: null };

async function stepsOf(task: Task, context: PreparingParts['context']): Promise<Plan> {
  if ('recipe' in task) {
    const { recipe, parameters: values } = task;
    return await recipe.plan({ ...context, values, waitMs: undefined });
  }
  const { operation: key, parameters: params, content } = task;
  const write: Write = { key, params, ...(content && { content }) };
  return { facts: [], steps: [callStep({ title: titleOf(task), write, done: `${key} was carried out.` })] };
}

function shownOf({ operation, risk, request, findings, because, current }: DryRunPlan): Omit<PlannedStep, 'title'> {
  const { method, url, body = null } = request;
  return { call: { operation, risk, method, url, body }, findings, because, current: shownObject(current) };
}

/** Open changes are kept in memory, and appliances choose how long their objects are. */
const maxObjectLength = 65_536;
const maxPlanLength = 262_144;

function shownObject(current: DryRunPlan['current']): DryRunPlan['current'] {
  if (!current || JSON.stringify(current.body).length <= maxObjectLength) return current;
  return { ...current, body: `Left out: it is longer than ${maxObjectLength} characters.` };
}

/** Is called for each step: the appliance decides how many there are, and each asks it again. */
function refuseLong(length: number): void {
  if (length <= maxPlanLength) return;
  throw new AdminProblem('recipe_refused', {
    detail: `The plan is too long: it has more than ${maxPlanLength} characters. Nothing was sent.`,
    remedy:
      'Look for unusually long names and texts on the appliance. For a certificate of very many farms use zlb-exporter deliver, which has no such limit.',
  });
}

/**
 * Returns what must be the same when the plan is made again: the exact call, what the guards find,
 * and the object. Their messages are left out, since they count connections.
 */
function digestedOf(
  { request: { method, url }, findings, current }: DryRunPlan,
  { content }: Write,
  salt: string,
): unknown {
  return [
    method,
    url,
    content && [content.type, createHmac('sha256', salt).update(content.bytes).digest('hex')],
    findings.map(({ guard, severity }) => [guard, severity]),
    current,
  ];
}

/** Throws an {@link AdminProblem} if the gateway would refuse a call of the plan. */
function refuseRefused({ steps }: ChangePlan): void {
  const refused = steps.filter(({ because }) => because.length > 0);
  if (refused.length === 0) return;
  throw new AdminProblem('guarded', {
    detail: refused.map(({ title, because }) => `${title}: ${because.join(' ')}`).join(' '),
    remedy: refused.flatMap(({ findings }) => findings.map(({ remedy }) => remedy)).join(' '),
  });
}

/** Makes the gateway's problem of what ends a plan. */
function toProblem(error: unknown): unknown {
  if (!(error instanceof AdminError)) return error;
  const { title, message, remedy } = error;
  const detail = /nothing was/i.test(message) ? message : `${message} Nothing was sent.`;
  if (error instanceof AdminProblem) {
    const { code, status, headers, members } = error;
    return new AdminProblem(code, {
      detail: detail,
      remedy,
      status,
      headers,
      members,
      cause: error,
    });
  }
  return new AdminProblem('recipe_refused', {
    detail: `${title}. ${detail}`,
    remedy,
  });
}
