import { createHash, createHmac } from 'node:crypto';
import { type EndpointKey, endpoints } from '../../appliance/api/table.ts';
import { parseRoute } from '../../appliance/route.ts';
import { maskBody } from '../calls/mask.ts';
import type { DryRunPlan } from '../calls/dry-run.ts';
import type { RecentReads } from '../calls/request.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { Answers } from '../policy/guards/guard.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { steadyNow } from '../../lib/time.ts';
import { backupSteps } from '../recipes/backup.ts';
import type { Calls, Content, Write } from '../recipes/calls.ts';
import { callStep, type Plan, type Recipe, type RecipeContext, type Step } from '../recipes/recipe.ts';
import { createCalls } from './calls.ts';
import type { AlertSource, ChangePlan, PlannedCall, PlannedStep } from './change.ts';
import type { ChangesCore } from './core.ts';

/** One operation, or one recipe with its parameters. */
export type Task =
  | {
      readonly operation: EndpointKey;
      readonly parameters: Readonly<Record<string, string>>;
      readonly content?: Content;
    }
  | {
      readonly recipe: Recipe;
      readonly parameters: Readonly<Record<string, string>>;
      /** They live in memory alone: keys may be in them. */
      readonly files?: Readonly<Record<string, string>>;
    };

/** A change, and why. */
export interface NewChange {
  readonly appliance: string;
  readonly task: Task;
  readonly reason: string | undefined;
  readonly force: boolean;
  readonly breakGlass?: boolean | undefined;
  readonly backupFirst?: boolean | undefined;
  readonly waitSeconds?: number | undefined;
  /** The alerts whose repair it is, if any. */
  readonly alerts?: readonly AlertSource[];
}

/** A plan, with the steps that carry it out. */
export interface PreparedChange {
  readonly plan: ChangePlan;
  readonly digest: string;
  readonly steps: readonly Step[];
}

/** A plan, and the replies that it was made from. */
export interface FreshPlan extends PreparedChange {
  readonly recent: RecentReads;
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

/** A change to plan, with what makes two plans of it the same. */
export interface Planning extends Omit<NewChange, 'alerts'> {
  readonly id: string;
  /** Key of the digests of bodies. */
  readonly salt: string;
  readonly askedAtMs: number;
  /** Told what a step waits for. */
  readonly onWait?: (line: string) => void;
}

/** Plans with the rights of the actor: nobody learns more than its token may read. */
export async function prepareAs(actor: Caller, core: ChangesCore, asked: Planning): Promise<FreshPlan> {
  const answers: Answers = new Map();
  const changes = core.gateway.changesOf(asked.appliance);
  try {
    const prepared = await prepare(asked.task, { context: contextFor(core, asked, { actor, answers }), ...asked });
    return { ...prepared, recent: { answers, changes, atMs: steadyNow() } };
  } catch (error) {
    throw toProblem(error);
  }
}

/** Returns what the steps of a change have of the world, for as long as the caller is there. */
export function contextFor(
  core: ChangesCore,
  asked: Planning,
  { actor, answers }: { readonly actor: Caller; readonly answers?: Answers },
): RecipeContext & { readonly calls: Calls } {
  const { appliance, task, waitSeconds, askedAtMs, onWait = () => undefined } = asked;
  const change = { ...asked, breakGlass: asked.breakGlass ?? false };
  return {
    calls: createCalls(core, { change, caller: actor, ...(answers && { answers }) }),
    values: task.parameters,
    files: ('recipe' in task && task.files) || {},
    knownFarms: () => core.gateway.applianceFor({ principal: actor.principal, appliance }).knownFarms(),
    reach: core.reachOf(appliance),
    waitMs: waitSeconds === undefined ? undefined : waitSeconds * 1_000,
    now: core.now,
    steadyNow: core.steadyNow,
    askedAtMs,
    signal: actor.signal,
    sleep: (ms) => core.sleep(ms, actor.signal),
    progress: onWait,
  };
}

interface PreparingParts {
  readonly context: RecipeContext & { readonly calls: Calls };
  readonly force: boolean;
  readonly salt: string;
  readonly backupFirst?: boolean | undefined;
}

/**
 * Plans a change: reads, and makes a dry run of each call. Rejects with an {@link AdminError} when
 * it cannot be done.
 */
export async function prepare(
  task: Task,
  { context, force, salt, backupFirst = false }: PreparingParts,
): Promise<PreparedChange> {
  const { calls } = context;
  const made = await stepsOf(task, context);
  const steps = backupFirst ? [...(await backupSteps(context)), ...made.steps] : made.steps;
  const planned: PlannedStep[] = [];
  const { facts, targets } = made;
  let length = JSON.stringify([facts, targets]).length;
  const digest = createHash('sha256').update(JSON.stringify([titleOf(task), calls.appliance, force]));
  for (const [index, { title, write, wayBack }] of steps.entries()) {
    const dryRun = write && (await calls.dryRun(write));
    // The steps for one object share their way back.
    const back = wayBack === steps[index - 1]?.wayBack ? undefined : wayBack?.writes;
    const step = {
      title,
      ...(dryRun ? shownOf(dryRun) : nothing),
      ...(back && { way_back: back.map((each) => callBack(each, calls)) }),
    };
    length += JSON.stringify(step).length;
    refuseLong(length);
    planned.push(step);
    if (dryRun) digest.update(JSON.stringify(digestedOf(dryRun, write, salt)));
    if (back) digest.update(JSON.stringify(step.way_back));
  }
  const plan = { facts, steps: planned, ...(targets && { targets }) };
  return { plan, digest: digest.digest('hex'), steps };
}

const nothing: Omit<PlannedStep, 'title'> = { call: null, findings: [], because: [], current: null };

async function stepsOf(task: Task, context: RecipeContext): Promise<Plan> {
  if ('recipe' in task) return await task.recipe.plan(context);
  const { operation: key, parameters: params, content } = task;
  const write: Write = { key, params, ...(content && { content }) };
  return { facts: [], steps: [callStep({ title: titleOf(task), write, done: `${key} was carried out.` })] };
}

function shownOf({ operation, risk, request, would, ...found }: DryRunPlan): Omit<PlannedStep, 'title'> {
  const { method, url, body = null } = request;
  const { findings, because, current } = found;
  return { call: { operation, risk, method, url, body }, would, findings, because, current: shownObject(current) };
}

function callBack(write: Write, calls: Pick<Calls, 'urlOf'>): PlannedCall {
  const { risk, route } = endpoints[write.key];
  const { method } = parseRoute(route);
  const body = write.content ? maskBody(write.content.bytes, write.content.type) : null;
  return { operation: write.key, risk, method, url: calls.urlOf(write), body };
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
      'Look for unusually long names and texts on the appliance. A certificate of very many farms goes to one after the other with zlb-exporter deliver.',
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
export function refuseRefused({ steps }: ChangePlan): void {
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
