import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { parseJson } from '../../lib/check.ts';
import { Secret } from '../../lib/secret.ts';
import { maskedTexts } from '../calls/mask.ts';
import { maxReasonLength } from '../calls/recorder.ts';
import { bodyTypes } from '../policy/operation.ts';
import { isWriteRisk } from '../policy/policy.ts';
import { malformedBody } from '../policy/problem.ts';
import { jsonContent, type Write } from '../recipes/calls.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { allRecipes } from '../recipes/recipes.ts';
import type { AlertSource } from './change.ts';
import type { ChangesContext } from './context.ts';

/** The work of a change: one call, or a recipe. */
export type Task = Write | RecipeTask;

export interface RecipeTask {
  readonly recipe: Recipe;
  readonly params: Readonly<Record<string, string>>;
  /** They live only in memory: keys may be in them. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Shorter lines of a file, such as its last one, tell too little and stand in many texts. */
const minLineLength = 16;

/**
 * Returns what a task sends that may be a key or a password, line by line: an appliance may answer
 * with a part of it, without the words by which secrets are known.
 */
export function secretsOf(task: Task): readonly Secret[] {
  if ('recipe' in task) return Object.values(task.files ?? {}).flatMap(linesOf);
  const { type = '', bytes } = task.content ?? {};
  if (!bytes) return [];
  const texts = type === bodyTypes.json[0] ? maskedTexts(parseJson(bytes)) : [bytes.toString()];
  return texts.flatMap((text) => [new Secret(text), ...linesOf(text)]);
}

function linesOf(text: string): readonly Secret[] {
  const lines = text.split(/[\r\n]+/).filter((line) => line.length >= minLineLength && !line.startsWith('-----'));
  return lines.map((line) => new Secret(line));
}

/** A change before its plan: a submitted one, or a stored one that is planned again at its approval. */
export interface ChangeInput {
  readonly id: string;
  readonly appliance: string;
  readonly task: Task;
  readonly reason: string | undefined;
  readonly force: boolean;
  readonly breakGlass?: boolean | undefined;
  readonly backupFirst?: boolean | undefined;
  readonly waitSeconds?: number | undefined;
  /** The alerts whose repair it is, if any. */
  readonly alerts?: readonly AlertSource[];
  /** The digest of the dry run that the caller has seen: only this plan is run then. */
  readonly seenDigest?: string | undefined;
  /** The time of the request, or of the dry run that the caller has seen: names may contain it. */
  readonly askedAtMs: number;
  /** Key of the digests of bodies: a body may hold a password that could be guessed. */
  readonly digestKey: string;
  /** Called with what a step waits for. */
  readonly onWait?: (line: string) => void;
}

type Identity = Pick<ChangeInput, 'id' | 'askedAtMs' | 'digestKey'>;

/** Returns the parts of a new change that no caller chooses. */
export function newIdentity({ now, digestKey }: Pick<ChangesContext, 'now' | 'digestKey'>): Identity {
  // Letters that are easy to read out.
  const id = `ch-${[...randomBytes(10)].map((byte) => letters[byte % letters.length]).join('')}`;
  return { id, askedAtMs: now(), digestKey };
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567';

const texts = (description: string, maxLength?: number) =>
  Type.Optional(Type.Record(Type.String(), Type.String(maxLength === undefined ? {} : { maxLength }), { description }));

const recipeNames = allRecipes()
  .map(({ name }) => name)
  .join(', ');

/** The body of `POST /changes`. */
export const ChangeRequestSchema = Type.Object(
  {
    appliance: Type.String(),
    operation: Type.Optional(Type.String({ description: 'The operationId; or a recipe.' })),
    recipe: Type.Optional(Type.String({ description: `One of ${recipeNames}.` })),
    parameters: texts('The values of the recipe, or of the path of the operation.', 500),
    files: texts(
      'The texts of the files of a recipe, in PEM. They are kept in memory alone, and only while the change runs: one with a file cannot wait.',
    ),
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The JSON body of the operation.' })),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxReasonLength,
        description: 'For the audit; only a dry run needs none.',
      }),
    ),
    force: Type.Optional(Type.Boolean({ description: 'Override guards.' })),
    run: Type.Optional(
      Type.Enum(['now', 'when_approved'], {
        description:
          '`now` runs it, unless a call of it needs approval; `when_approved` lets it wait for another person. The default is `when_approved`.',
      }),
    ),
    detach: Type.Optional(
      Type.Boolean({ description: 'With `run: now`: answer at once, and go on without the caller.' }),
    ),
    break_glass: Type.Optional(
      Type.Boolean({ description: 'With `run: now`, in an emergency: send without the approval that it needs.' }),
    ),
    backup_first: Type.Optional(Type.Boolean({ description: 'Back up the configuration before the first step.' })),
    wait_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3_600, description: 'The longest wait of a step for its effect.' }),
    ),
    digest: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'With `run: now`: of the dry run that was looked at. Another plan is not run.',
      }),
    ),
    asked_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Of the same dry run: names with a time in them stay the same.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ChangeRequest = Static<typeof ChangeRequestSchema>;

/** A dry run that is older says little of the appliance. */
const maxAgeMs = 3_600_000;

/** Returns the change that a body describes. Throws an {@link AdminProblem}. */
export function readChangeRequest(
  request: ChangeRequest,
  context: Pick<ChangesContext, 'operations' | 'recipes' | 'now' | 'digestKey'>,
): ChangeInput {
  const { appliance, reason, digest, asked_at: askedAt } = request;
  const identity = newIdentity(context);
  const askedAtMs = askedAt === undefined ? identity.askedAtMs : Date.parse(askedAt);
  const ageMs = identity.askedAtMs - askedAtMs;
  if (!(ageMs >= 0 && ageMs <= maxAgeMs)) throw malformedBody('asked_at is not a moment of the last hour');
  const isNow = request.run === 'now';
  if (!isNow && (request.break_glass || request.detach))
    throw malformedBody('break_glass and detach are only valid with run: now');
  return {
    ...identity,
    appliance,
    task: readTask(request, context),
    reason,
    force: request.force ?? false,
    breakGlass: request.break_glass,
    backupFirst: request.backup_first,
    waitSeconds: request.wait_seconds,
    seenDigest: digest,
    askedAtMs,
  };
}

/** Returns the task that a body describes. Throws an {@link AdminProblem}. */
export function readTask(
  { operation: key, recipe: name, parameters: params = {}, files, body }: ChangeRequest,
  { operations, recipes }: Pick<ChangesContext, 'operations' | 'recipes'>,
): Task {
  const known = recipes();
  const recipe = known.find((each) => each.name === name);
  const operation = key === undefined ? undefined : operations.get(key);
  if (recipe && key === undefined && !body) {
    assertRecipeInput(recipe, params, files ?? {});
    return { recipe, params, ...(files && { files }) };
  }
  if (!operation || name !== undefined || files)
    throw malformedBody(
      `The body names neither one operation nor one recipe: ${known.map((each) => each.name).join(', ')}`,
    );
  const { row, template } = operation;
  if (!isWriteRisk(row.risk))
    throw malformedBody(`${operation.operationId} changes nothing, and needs nobody's approval`);
  const isNamed = (each: string): boolean => template.includes(`{${each}}`) || template.includes(`{${each}*}`);
  if (!Object.keys(params).every(isNamed) || !operations.toCall(operation.operationId, params))
    throw malformedBody(`${row.route} needs a plain value for each name in braces, and nothing else`);
  return { operationId: operation.operationId, params, ...(body && { content: jsonContent(body) }) };
}

/** Refuses values and files that a recipe does not know, or lacks. */
function assertRecipeInput(
  { name, parameters, files: ofRecipe = {} }: Recipe,
  values: Task['params'],
  files: Readonly<Record<string, string>>,
): void {
  const missing = Object.entries(parameters).find(([each, use]) => use === 'required' && !values[each]);
  if (missing) throw malformedBody(`${name} needs ${missing[0]}`);
  if (Object.keys(values).some((each) => !Object.hasOwn(parameters, each)))
    throw malformedBody(`${name} takes ${Object.keys(parameters).join(', ')}`);
  const absent = Object.entries(ofRecipe).find(([each, { isRequired }]) => isRequired && !files[each]);
  if (absent) throw malformedBody(`${name} needs ${absent[0]}, as a file`);
  if (Object.keys(files).some((each) => !Object.hasOwn(ofRecipe, each)))
    throw malformedBody(`${name} takes ${Object.keys(ofRecipe).join(', ') || 'none'} as files`);
}
