import type { Caller, Principal } from '../policy/principal.ts';
import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { frozenProblem } from '../policy/freeze.ts';
import type { Operations } from '../policy/operation.ts';
import { changes, refuseViewer } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { PermittedCall } from '../calls/request.ts';
import { maskedFields } from '../calls/mask.ts';
import { contentTypes, jsonContent } from '../recipes/calls.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { type Change, isOver, type SealedParts } from './change.ts';
import { type NewChange, type Task, prepareAs, titleOf } from './plan.ts';
import type { ChangesCore } from './core.ts';
import { authoriseAll, said } from './rights.ts';

export const maxOpenPerPrincipal = 20;

/** Plans a change and stores it, to wait for approval. */
export async function ask(core: ChangesCore, asked: NewChange, asker: Caller): Promise<Change> {
  const { principal } = asker;
  core.gateway.applianceFor({ principal, appliance: asked.appliance });
  refuseViewer(principal);
  if (core.freeze.state) throw frozenProblem(core.freeze.state);
  refuseHidden(core, asked.task, asker);
  // The proposals of alerts are limited for each appliance, and not for their one Alertmanager.
  if (!asked.alerts) refuseTooMany(core, principal);
  core.asking.add(asker);
  try {
    return await planAndAdd(core, asked, asker);
  } finally {
    core.asking.delete(asker);
  }
}

async function planAndAdd(
  core: ChangesCore,
  { appliance, task, reason, force, alerts }: NewChange,
  asker: Caller,
): Promise<Change> {
  const { principal, token } = asker;
  const now = core.now();
  const id = newId();
  const salt = randomBytes(32).toString('hex');
  const parts = { id, appliance, task, reason, force, salt, askedAtMs: now };
  const { plan, digest, steps } = await prepareAs(asker, core, parts);
  if (!principal.plansOnly) authoriseAll(core, principal, steps);
  const sources = alerts?.map((each) => ({ ...each, summary: said(core, each.summary ?? undefined, token) }));
  const change: Change = {
    id,
    state: sources ? 'proposed' : 'pending',
    appliance,
    title: titleOf(task),
    ...('recipe' in task ? { recipe: task.recipe.name } : { operation: task.operation }),
    parameters: task.parameters,
    force,
    requested_by: principal.name,
    reason: said(core, reason, token),
    alert: sources?.[0] ?? null,
    ...(sources && { alerts: sources }),
    created: new Date(now).toISOString(),
    expires: new Date(now + core.settings().ttlMs).toISOString(),
    digest,
    plan,
    decision: null,
    outcome: null,
  };
  const content = 'content' in task ? task.content : undefined;
  const sealed: SealedParts = {
    person: principal.person,
    salt,
    ...(content && { content: { type: content.type, base64: content.bytes.toString('base64') } }),
  };
  await core.book.add({ change, sealed }, asker);
  return change;
}

/** Asks for a call that needs approval, in the place of sending it. */
export async function askInstead(core: ChangesCore, { request, call, body }: PermittedCall): Promise<Change> {
  const { appliance, reason, force } = request;
  const content = body?.inMemory && { content: { type: body.contentType, bytes: body.inMemory } };
  const task = { operation: call.operation.key, parameters: call.params, ...content };
  return await ask(core, { appliance, task, reason, force }, request);
}

/** Refuses secrets, and what looks like one: an approver would not see it. */
function refuseHidden({ recorder }: ChangesCore, task: Task, { token }: Caller): void {
  if (recorder.holdsSecret(task.parameters, token)) throw malformed('A parameter has a token or a key in it');
  const content = 'content' in task ? task.content : undefined;
  if (content?.type !== contentTypes.json) return;
  const body = parseJson(content.bytes);
  const [masked] = maskedFields(body);
  if (masked === undefined && !recorder.holdsSecret(body, token)) return;
  throw new AdminProblem('cannot_wait', {
    detail: `The body has a secret, or what looks like one${masked === undefined ? '' : `, in ${oneLine(masked, 64)}`}. An approver would not see it, so the change cannot wait; nothing was sent.`,
    remedy:
      'If it is none, write it so that it does not look like one. Else send it with a token whose calls need no approval, or with X-Break-Glass and a reason.',
  });
}

function refuseTooMany({ book, asking }: ChangesCore, { name }: Principal): void {
  const open =
    book.changes.filter((each) => each.requested_by === name && !isOver(each.state)).length +
    [...asking].filter(({ principal }) => principal.name === name).length;
  if (open < maxOpenPerPrincipal) return;
  throw new AdminProblem('too_many_changes', { detail: `${name} has ${open} changes open; nothing was sent.` });
}

/** Returns an id that is easy to read out. */
function newId(): string {
  return `ch-${[...randomBytes(10)].map((byte) => letters[byte % letters.length]).join('')}`;
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

/** The body of `POST /changes`. */
export const AskedSchema = Type.Object(
  {
    appliance: Type.String(),
    operation: Type.Optional(Type.String({ description: 'The operationId; or a recipe.' })),
    recipe: Type.Optional(
      Type.String({ description: 'restart-farm, drain-backend, restore-backend, backup or deliver.' }),
    ),
    parameters: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 500 }))),
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The JSON body of the operation.' })),
    reason: Type.String({ minLength: 1, maxLength: 500 }),
    force: Type.Optional(Type.Boolean({ description: 'Override guards.' })),
  },
  { additionalProperties: false },
);
export type Asked = Static<typeof AskedSchema>;

/** Returns the change that is asked for. Throws an {@link AdminProblem}. */
export function readTask(
  { operation: key, recipe: name, parameters = {}, body }: Asked,
  { operations, recipes }: { readonly operations: Operations; readonly recipes: () => readonly Recipe[] },
): Task {
  const known = recipes();
  const recipe = known.find((each) => each.name === name);
  const operation = key === undefined ? undefined : operations.named(key);
  if (recipe && key === undefined) return { recipe, parameters: valuesFor(recipe, parameters) };
  if (!operation || name !== undefined)
    throw malformed(
      `The body names neither one operation nor one recipe: ${known.map((each) => each.name).join(', ')}`,
    );
  const { row, template } = operation;
  if (!changes(row.risk)) throw malformed(`${operation.key} changes nothing, and needs nobody's approval`);
  const isNamed = (each: string): boolean => template.includes(`{${each}}`) || template.includes(`{${each}*}`);
  if (!Object.keys(parameters).every(isNamed) || !operations.call(operation, parameters))
    throw malformed(`${row.route} needs a plain value for each name in braces, and nothing else`);
  return { operation: operation.key, parameters, ...(body && { content: jsonContent(body) }) };
}

function valuesFor({ name, parameters }: Recipe, values: Task['parameters']): Task['parameters'] {
  const missing = Object.entries(parameters).find(([each, isRequired]) => isRequired && !values[each]);
  if (missing) throw malformed(`${name} needs ${missing[0]}`);
  if (Object.keys(values).some((each) => !Object.hasOwn(parameters, each)))
    throw malformed(`${name} takes ${Object.keys(parameters).join(', ')}`);
  return values;
}

export function malformed(because: string): AdminProblem {
  return new AdminProblem('malformed_body', { detail: `${because}; nothing was sent.` });
}
